package main

import (
	"fmt"
	"sort"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// The scheduler is kube-scheduler with its defaults, as far as the pods here need it: it filters by room, readiness,
// taints, NodePool and hard spread over hosts, and scores as scores.go says. It leaves out affinity, volumes, ports,
// priorities and preemption, and the pause before a pod is tried again: a waiting pod is tried whenever a node or a pod
// has changed. With each try its pause doubles, so the pods of several tries come in an order by lot.

// schedule binds waiting pods.
func (w *world) schedule() {
	w.mu.Lock()
	waiting := w.queue()
	var nodes []*candidate
	if len(waiting) > 0 {
		nodes = w.candidates()
	}
	type binding struct{ pod, node string }
	var bindings []binding
	var unschedulable []string
	message := fmt.Sprintf("0/%d nodes are available", len(nodes))
	for _, p := range waiting {
		best := w.choose(p, nodes)
		if best == nil {
			// With another number of nodes the pod's status changes, and Karpenter acts at once, not after ten seconds.
			if p.reported != message {
				p.reported = message
				unschedulable = append(unschedulable, p.name)
			}
			continue
		}
		best.add(p)
		bindings = append(bindings, binding{p.name, best.name})
	}
	w.mu.Unlock()
	for _, b := range bindings {
		w.bind(b.pod, b.node)
	}
	for _, name := range unschedulable {
		w.report(name, message)
	}
}

// queue is the waiting pods by lot: one seed gives one order.
func (w *world) queue() []*pod {
	var waiting []*pod
	for _, p := range w.waiting {
		if !p.isTerminating {
			waiting = append(waiting, p)
		}
	}
	sort.Slice(waiting, func(i, j int) bool { return waiting[i].name < waiting[j].name })
	w.random.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	return waiting
}

// candidate is a node while pods are placed.
type candidate struct {
	*node
	used, counted resources
	ofService     map[*service]int
	ofSet         map[*replicaSet]int
}

func (c *candidate) add(p *pod) {
	c.used = c.used.plus(p.needs)
	c.counted = c.counted.plus(p.counts)
	if p.service != nil {
		c.ofService[p.service]++
		c.ofSet[p.set]++
	}
}

func (w *world) candidates() []*candidate {
	var all []*candidate
	for _, n := range w.nodes {
		c := &candidate{
			node: n, used: n.used, counted: n.counted,
			ofService: map[*service]int{}, ofSet: map[*replicaSet]int{},
		}
		for _, p := range n.pods {
			if p.service != nil && !p.isTerminating {
				c.ofService[p.service]++
				c.ofSet[p.set]++
			}
		}
		all = append(all, c)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].serial < all[j].serial })
	return all
}

// choose is the node with the best score. Among equals the lot decides, or the first to join gets the pod: see README.md.
func (w *world) choose(p *pod, nodes []*candidate) *candidate {
	var feasible []*candidate
	for _, c := range nodes {
		if p.mayRunOn(c) && p.spreads(c, nodes) {
			feasible = append(feasible, c)
		}
	}
	if len(feasible) == 0 {
		return nil
	}
	scores := scoresOf(p, feasible)
	best, ties := 0, 1
	for i := 1; i < len(feasible); i++ {
		switch {
		case scores[i] > scores[best]:
			best, ties = i, 1
		case scores[i] == scores[best]:
			ties++
			if w.config.Ties == "random" && w.random.Intn(ties) == 0 {
				best = i
			}
		}
	}
	return feasible[best]
}

func (p *pod) mayRunOn(c *candidate) bool {
	if !c.isUsable || !c.used.plus(p.needs).fitsIn(c.room) || !p.isWantedOn(c.obj) {
		return false
	}
	for _, t := range c.obj.Spec.Taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !p.tolerates(t) {
			return false
		}
	}
	return true
}

func (p *pod) isWantedOn(n *corev1.Node) bool {
	pool := p.obj.Spec.NodeSelector[v1.NodePoolLabelKey]
	return pool == "" || pool == n.Labels[v1.NodePoolLabelKey]
}

func (p *pod) tolerates(t corev1.Taint) bool {
	for i := range p.obj.Spec.Tolerations {
		o := p.obj.Spec.Tolerations[i]
		sameKey := o.Key == t.Key || o.Key == "" && o.Operator == corev1.TolerationOpExists
		sameValue := o.Operator == corev1.TolerationOpExists || o.Value == t.Value
		if sameKey && sameValue && (o.Effect == "" || o.Effect == t.Effect) {
			return true
		}
	}
	return false
}

// spreads is the hard rule of a service that is spread over hosts: no node has two more pods than another.
func (p *pod) spreads(c *candidate, nodes []*candidate) bool {
	if p.service == nil || !p.service.Spread {
		return true
	}
	least := -1
	for _, other := range nodes {
		if !p.isWantedOn(other.obj) {
			continue
		}
		if n := other.ofService[p.service]; least < 0 || n < least {
			least = n
		}
	}
	return c.ofService[p.service]+1-least <= 1
}

func (w *world) bind(pod, node string) {
	p := &corev1.Pod{}
	if w.store.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: pod}, p) != nil || p.DeletionTimestamp != nil {
		return
	}
	p.Spec.NodeName = node
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
	}}
	if w.store.Update(w.ctx, p) != nil {
		w.awake() // it has changed meanwhile, and still waits
	}
}

// report writes that no node has room for a pod, which is why Karpenter launches one.
func (w *world) report(pod, message string) {
	w.retry(func() error {
		p := &corev1.Pod{}
		if err := w.store.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: pod}, p); err != nil || p.Spec.NodeName != "" {
			return err
		}
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: message, LastTransitionTime: metav1.Now(),
		}}
		return w.store.Update(w.ctx, p)
	})
}
