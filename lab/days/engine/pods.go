package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pod is what scheduler and controllers know of a pod.
type pod struct {
	name          string
	obj           *corev1.Pod
	needs, counts resources
	created       time.Time
	node          string
	service       *service
	set           *replicaSet
	job           *job
	isDaemon      bool
	isStarting    bool
	isTerminating bool
	isDone        bool   // its containers have ended
	reported      string // what the scheduler has written about the room that is missing
	readySince    time.Time
}

const (
	serviceLabel = "service"
	versionLabel = "version"
	jobLabel     = "job"
)

func (w *world) seePod(o *corev1.Pod, isGone bool) {
	p := w.pods[o.Name]
	if isGone {
		if p != nil {
			w.losePod(p)
		}
		return
	}
	if p == nil {
		p = w.newPod(o)
		w.pods[o.Name] = p
	}
	before := p.obj
	p.obj = o
	if isReady(o) && p.readySince.IsZero() {
		p.readySince = time.Now()
		w.awake()
	}
	if p.node == "" {
		if o.Spec.NodeName != "" {
			w.bound(p, o.Spec.NodeName)
		} else if before == nil {
			w.waiting[p.name] = p
			w.awake()
		}
	}
	if o.Status.Phase == corev1.PodSucceeded && !p.isDone {
		p.isDone = true
		w.free(p)
	}
	if o.DeletionTimestamp != nil && !p.isTerminating {
		p.isTerminating = true
		w.terminating(p)
	}
}

func (w *world) newPod(o *corev1.Pod) *pod {
	requests := o.Spec.Containers[0].Resources.Requests
	p := &pod{
		name:    o.Name,
		created: time.Now(),
		needs:   resources{requests.Cpu().MilliValue(), requests.Memory().Value(), 1},
	}
	for _, s := range w.services {
		if s.Name == o.Labels[serviceLabel] {
			p.service, p.set = s, s.setOf(o.Labels[versionLabel])
			p.set.pods[p.name] = p
		}
	}
	p.counts = counted(p.needs)
	p.job = w.jobs[o.Labels[jobLabel]]
	p.isDaemon = p.service == nil && p.job == nil
	return p
}

// bound starts a pod on its node.
func (w *world) bound(p *pod, name string) {
	delete(w.waiting, p.name)
	p.node = name
	if !p.isDaemon {
		w.tally.waited(p)
	}
	n := w.nodes[name]
	if n == nil {
		go w.deletePod(p.name, 0)
		return
	}
	n.used, n.counted = n.used.plus(p.needs), n.counted.plus(p.counts)
	n.pods[p.name] = p
	if isNodeReady(n.obj) {
		w.startOn(n, p)
	}
}

// startOn runs a pod after its image is there.
func (w *world) startOn(n *node, p *pod) {
	if p.isStarting {
		return
	}
	p.isStarting = true
	now := time.Now()
	image := p.obj.Spec.Containers[0].Image
	there, isKnown := n.images[image]
	if !isKnown {
		there = now.Add(w.random.within(w.config.ImagePull))
		n.images[image] = there
		w.tally.imagePulled()
	}
	delay := seconds(w.config.PodStart) + max(0, there.Sub(now))
	readyAfter := 0.0
	if p.service != nil {
		readyAfter = p.service.Starts
	}
	name := p.name
	time.AfterFunc(delay, func() {
		w.setRunning(name, readyAfter == 0)
		if readyAfter > 0 {
			time.AfterFunc(seconds(readyAfter), func() { w.setRunning(name, true) })
		}
	})
}

// setRunning is the kubelet's status of a pod whose containers run.
func (w *world) setRunning(name string, isReady bool) {
	w.retry(func() error {
		p := &corev1.Pod{}
		if err := w.store.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: name}, p); err != nil || p.DeletionTimestamp != nil {
			return err
		}
		now := metav1.Now()
		isFirst := p.Status.Phase != corev1.PodRunning
		if isFirst {
			p.Status.StartTime = &now
		}
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: corev1.PodReady, Status: conditionOf(isReady), LastTransitionTime: now},
		}
		if err := w.store.Update(w.ctx, p); err != nil {
			return err
		}
		if isFirst {
			w.jobRuns(name)
		}
		return nil
	})
}

func conditionOf(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// terminating counts an eviction and lets the kubelet stop the pod.
func (w *world) terminating(p *pod) {
	if p.service != nil {
		delete(p.set.pods, p.name)
	}
	for _, c := range p.obj.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && !p.isDone && p.node != "" {
			w.countEviction(p)
		}
	}
	name := p.name
	time.AfterFunc(seconds(w.config.PodStop), func() { w.deletePod(name, 0) })
	w.awake()
}

func (w *world) countEviction(p *pod) {
	reason := "other"
	if i := w.instances[p.node]; i != nil && i.reason != "" {
		reason = i.reason
	}
	w.log("evicted %s from %s (%s)", p.name, p.node, reason)
	switch {
	case p.job != nil:
		w.tally.jobKilled(reason)
		w.startAgain(p.job)
	case p.service != nil:
		w.tally.evict(reason)
	}
}

// free gives back what a pod used.
func (w *world) free(p *pod) {
	if n := w.nodes[p.node]; n != nil && n.pods[p.name] != nil {
		n.used, n.counted = n.used.minus(p.needs), n.counted.minus(p.counts)
		delete(n.pods, p.name)
	}
	w.awake()
}

// losePod forgets a pod. One that waited for a node until now has waited, too.
func (w *world) losePod(p *pod) {
	if !p.isDone {
		w.free(p)
	}
	if p.set != nil {
		delete(p.set.pods, p.name)
	}
	if !p.isTerminating && p.job != nil && !p.isDone {
		w.startAgain(p.job)
	}
	if w.waiting[p.name] != nil && !p.isDaemon {
		w.tally.waited(p)
	}
	delete(w.waiting, p.name)
	delete(w.pods, p.name)
	w.awake()
}

// deletePod deletes a pod with its own grace period, or at once with grace 0.
func (w *world) deletePod(name string, grace ...int64) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	var options []client.DeleteOption
	for _, g := range grace {
		options = append(options, client.GracePeriodSeconds(g))
	}
	_ = w.store.Delete(w.ctx, p, options...) // a pod that is gone needs nothing
}
