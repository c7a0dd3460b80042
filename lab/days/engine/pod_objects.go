package main

import (
	"crypto/sha256"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// podSpec is what makes pods differ.
type podSpec struct {
	name, image, pool string
	labels            map[string]string
	cpu, memory       resource.Quantity
	owner             metav1.OwnerReference
	doNotDisrupt      bool
}

// podObject is a pod as a controller creates it.
func (w *world) podObject(s podSpec) *corev1.Pod {
	grace, yes := int64(30), true
	s.owner.Controller = &yes
	requests := corev1.ResourceList{}
	if !s.cpu.IsZero() {
		requests[corev1.ResourceCPU] = s.cpu
	}
	if !s.memory.IsZero() {
		requests[corev1.ResourceMemory] = s.memory
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: s.name, Namespace: namespace, Labels: s.labels, UID: uidOf(w.config.Seed, s.name),
			OwnerReferences: []metav1.OwnerReference{s.owner},
		},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.invalid/" + s.image,
				Resources: corev1.ResourceRequirements{Requests: requests},
			}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if s.pool != "" {
		p.Spec.NodeSelector = map[string]string{v1.NodePoolLabelKey: s.pool}
	}
	if s.doNotDisrupt {
		p.Annotations = map[string]string{doNotDisrupt: "true"}
	}
	return p
}

// uidOf is random, because a ReplicaSet chooses by the uid among pods of about the same age.
func uidOf(seed int64, name string) types.UID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, name))
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}
