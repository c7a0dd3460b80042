package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// instance is a machine that is paid for from its launch until its node is gone.
type instance struct {
	id, claim, pool string
	cores, price    float64
	reason          string // why Karpenter disrupts it
}

// launch is what the cloud announces about a new instance.
type launch struct {
	Instance   string `json:"instance"`
	NodePool   string `json:"nodePool"`
	LaunchedAt int64  `json:"launchedAt"`
}

// node is what the scheduler knows of a node.
type node struct {
	name       string
	serial     int // in the order of joining
	obj        *corev1.Node
	isUsable   bool
	isHeld     bool
	room, used resources
	counted    resources // what its pods count for where room is scored
	pods       map[string]*pod
	images     map[string]time.Time // when an image is there
}

// resources are millicores, bytes and a number of pods.
type resources struct{ cpu, memory, pods int64 }

func (r resources) plus(o resources) resources {
	return resources{r.cpu + o.cpu, r.memory + o.memory, r.pods + o.pods}
}
func (r resources) minus(o resources) resources {
	return resources{r.cpu - o.cpu, r.memory - o.memory, r.pods - o.pods}
}
func (r resources) fitsIn(o resources) bool {
	return r.cpu <= o.cpu && r.memory <= o.memory && r.pods <= o.pods
}

const doNotDisrupt = v1.DoNotDisruptAnnotationKey

var notReadyTaint = corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}

func readyCondition(is corev1.ConditionStatus) corev1.NodeCondition {
	now := metav1.Now()
	return corev1.NodeCondition{
		Type: corev1.NodeReady, Status: is, Reason: "KubeletReady", LastTransitionTime: now, LastHeartbeatTime: now,
	}
}

// launched records a new instance.
func (w *world) launched(claim string, created *v1.NodeClaim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	labels := created.Labels
	i := &instance{id: created.Status.ProviderID, claim: claim, pool: labels[v1.NodePoolLabelKey]}
	for _, t := range w.config.InstanceTypes {
		if t.Name == labels[corev1.LabelInstanceTypeStable] {
			i.cores, i.price = float64(t.CPU.MilliValue())/1000, t.Price
		}
	}
	w.instances[created.Name] = i
	w.tally.launch(i)
	w.log("launched %s (%s)", created.Name, labels[corev1.LabelInstanceTypeStable])
	if w.launches == nil {
		return
	}
	event := launch{i.id, i.pool, time.Now().UnixMilli()}
	delay := w.random.within(w.config.Holder.LaunchEventDelay)
	time.AfterFunc(delay, func() { w.launches <- event })
}

// terminated ends an instance.
func (w *world) terminated(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endInstance(name)
}

// endInstance is terminated with the lock held.
func (w *world) endInstance(name string) {
	i := w.instances[name]
	if i == nil {
		return
	}
	delete(w.instances, name)
	w.tally.terminate(i)
	w.gone = append(w.gone, i.id)
	for _, d := range w.drifts {
		d.nodeGone(name)
	}
	w.log("gone %s (%s)", name, i.reason)
}

func (w *world) seeNode(o *corev1.Node, isGone bool) {
	n := w.nodes[o.Name]
	if isGone {
		w.loseNode(o.Name, n)
		return
	}
	if n == nil {
		a := o.Status.Allocatable
		w.serial++
		n = &node{
			name:   o.Name,
			serial: w.serial,
			room:   resources{a.Cpu().MilliValue(), a.Memory().Value(), a.Pods().Value()},
			pods:   map[string]*pod{},
			images: map[string]time.Time{},
		}
		w.nodes[o.Name] = n
		w.startDaemons(n.name)
	}
	n.obj = o
	isHeld := o.Annotations[doNotDisrupt] != ""
	if isHeld != n.isHeld {
		n.isHeld = isHeld
		w.tally.markChanged()
	}
	n.isUsable = isNodeReady(o) && !o.Spec.Unschedulable && o.DeletionTimestamp == nil
	if n.isUsable {
		w.awake()
	}
}

// loseNode forgets a node and deletes the pods that are still bound to it.
func (w *world) loseNode(name string, n *node) {
	delete(w.nodes, name)
	w.endInstance(name)
	if n == nil {
		return
	}
	if n.isHeld {
		w.tally.markChanged()
	}
	for pod := range n.pods {
		go w.deletePod(pod, 0)
	}
}

// ready makes a node ready.
func (w *world) ready(name string) {
	w.retry(func() error {
		n := &corev1.Node{}
		if err := w.store.Get(w.ctx, client.ObjectKey{Name: name}, n); err != nil {
			return err
		}
		n.Status.Conditions = []corev1.NodeCondition{readyCondition(corev1.ConditionTrue)}
		n.Status.Phase = corev1.NodeRunning
		var taints []corev1.Taint
		for _, t := range n.Spec.Taints {
			if t.Key != notReadyTaint.Key {
				taints = append(taints, t)
			}
		}
		n.Spec.Taints = taints
		return w.store.Update(w.ctx, n)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := w.nodes[name]; n != nil {
		for _, p := range n.pods {
			w.startOn(n, p)
		}
	}
}

func isNodeReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func isGone(err error) bool { return errors.IsNotFound(err) }
