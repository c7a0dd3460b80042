package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createDaemonSets stores the objects from which Karpenter reads what each node needs for itself.
func (w *world) createDaemonSets() error {
	for _, d := range w.config.Trace.Daemons {
		pod := w.daemonPod(d, "")
		set := &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Name: d.Name, Namespace: namespace, UID: pod.OwnerReferences[0].UID},
			Spec: appsv1.DaemonSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: pod.Labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
			},
		}
		if err := w.store.Create(w.ctx, set); err != nil {
			return err
		}
	}
	return nil
}

// startDaemons puts a pod of each DaemonSet on a node that has joined; the lock is held.
func (w *world) startDaemons(node string) {
	for _, d := range w.config.Trace.Daemons {
		p := w.daemonPod(d, node)
		go func() {
			if err := w.store.Create(w.ctx, p); err != nil {
				panic(err)
			}
		}()
	}
}

// daemonPod tolerates everything, so that no drain evicts it.
func (w *world) daemonPod(d daemonTrace, node string) *corev1.Pod {
	p := w.podObject(podSpec{
		name:   d.Name + "-" + node,
		image:  d.Name,
		labels: map[string]string{"daemon": d.Name},
		cpu:    d.CPU.Quantity, memory: d.Memory.Quantity,
		owner: metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: d.Name, UID: uidOf(w.config.Seed, "daemonset "+d.Name)},
	})
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	p.Spec.NodeName = node
	return p
}
