package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (s *store) Status() client.SubResourceWriter { return subresource{s: s} }
func (s *store) SubResource(name string) client.SubResourceClient {
	return subresource{s: s, name: name}
}

// subresource writes a status, which is not kept apart here, or evicts a pod.
type subresource struct {
	client.SubResourceClient
	s    *store
	name string
}

func (u subresource) Update(_ context.Context, obj client.Object, _ ...client.SubResourceUpdateOption) error {
	return u.s.update(obj)
}

func (u subresource) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	return u.s.patch(obj, patch)
}

func (u subresource) Create(ctx context.Context, obj client.Object, body client.Object, _ ...client.SubResourceCreateOption) error {
	eviction, ok := body.(*policyv1.Eviction)
	if !ok || u.name != "eviction" {
		panic("subresource " + u.name)
	}
	return u.s.evict(ctx, client.ObjectKeyFromObject(obj), eviction)
}

const evictedByAPI = "EvictionByEvictionAPI"

// evict deletes a pod unless a PodDisruptionBudget forbids it.
func (s *store) evict(ctx context.Context, key client.ObjectKey, eviction *policyv1.Eviction) error {
	pod := &corev1.Pod{}
	if err := s.Get(ctx, key, pod); err != nil {
		return err
	}
	if o := eviction.DeleteOptions; o != nil && o.Preconditions != nil && o.Preconditions.UID != nil && *o.Preconditions.UID != pod.UID {
		return conflict(pod)
	}
	if pod.DeletionTimestamp != nil {
		return s.Delete(ctx, pod)
	}
	if pod.Status.Phase == corev1.PodRunning {
		if err := s.takeFromBudget(ctx, pod); err != nil {
			return err
		}
	}
	pod.Status.Conditions = append(slices.Clip(pod.Status.Conditions), corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: evictedByAPI,
		LastTransitionTime: metav1.Now(),
	})
	if err := s.update(pod); err != nil {
		return err
	}
	return s.Delete(ctx, pod)
}

// takeFromBudget counts an eviction at once: the controller sees it only later.
func (s *store) takeFromBudget(ctx context.Context, pod *corev1.Pod) error {
	budgets := &policyv1.PodDisruptionBudgetList{}
	if err := s.List(ctx, budgets, client.InNamespace(pod.Namespace)); err != nil {
		return err
	}
	for i := range budgets.Items {
		b := &budgets.Items[i]
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || !selector.Matches(labelSet(pod.Labels)) {
			continue
		}
		// Without a policy of its own, a budget that is met lets pods go that are not ready.
		if !isReady(pod) && b.Status.CurrentHealthy >= b.Status.DesiredHealthy {
			continue
		}
		if b.Status.DisruptionsAllowed <= 0 {
			refused := errors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
			refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
				Type: policyv1.DisruptionBudgetCause,
				Message: fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently",
					b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy),
			})
			return refused
		}
		b.Status.DisruptionsAllowed--
		if b.Status.DisruptedPods == nil {
			b.Status.DisruptedPods = map[string]metav1.Time{}
		}
		b.Status.DisruptedPods[pod.Name] = metav1.Time{Time: time.Now()}
		if err := s.update(b); err != nil {
			return err
		}
	}
	return nil
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
