package main

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// createBudgets stores the PodDisruptionBudgets of services.
func (w *world) createBudgets() error {
	for _, s := range w.config.Trace.Services {
		if s.Budget == nil {
			continue
		}
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: namespace}}
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{serviceLabel: s.Name}}
		b.Spec.MaxUnavailable, b.Spec.MinAvailable = number(s.Budget.MaxUnavailable), number(s.Budget.MinAvailable)
		if err := w.store.Create(w.ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func number(n *int) *intstr.IntOrString {
	if n == nil {
		return nil
	}
	value := intstr.FromInt32(int32(*n))
	return &value
}

// reconcileBudgets keeps the status of PodDisruptionBudgets up to date.
func (w *world) reconcileBudgets() {
	type change struct {
		name   string
		status policyv1.PodDisruptionBudgetStatus
	}
	var changes []change
	w.mu.Lock()
	for _, s := range w.services {
		if s.Budget != nil {
			changes = append(changes, change{s.Name, s.budgetStatus()})
		}
	}
	w.mu.Unlock()
	for _, c := range changes {
		b := &policyv1.PodDisruptionBudget{}
		if w.store.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: c.name}, b) != nil {
			continue
		}
		c.status.ObservedGeneration = b.Generation
		b.Status = c.status
		if w.store.Update(w.ctx, b) != nil {
			w.awake()
		}
	}
}

// budgetStatus counts the ready pods that are not terminating.
func (s *service) budgetStatus() policyv1.PodDisruptionBudgetStatus {
	healthy, all := 0, 0
	for _, set := range s.sets {
		for _, p := range set.pods {
			all++
			if p.obj.Status.Phase == corev1.PodRunning && !p.readySince.IsZero() {
				healthy++
			}
		}
	}
	expected, desired := s.replicas, 0
	if m := s.Budget.MaxUnavailable; m != nil {
		desired = max(0, s.replicas-*m)
	} else {
		expected, desired = all, *s.Budget.MinAvailable
	}
	return policyv1.PodDisruptionBudgetStatus{
		CurrentHealthy: int32(healthy), DesiredHealthy: int32(desired), ExpectedPods: int32(expected),
		DisruptionsAllowed: int32(max(0, healthy-desired)),
	}
}
