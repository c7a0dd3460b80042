package main

import (
	"testing"
	"testing/synctest"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestABudgetRefusesEvictionsUntilPodsAreReadyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := 1
		web := serviceTrace{Name: "web", Replicas: 3, CPU: quantityOf("100m"), Budget: &budgetConfig{MaxUnavailable: &one}}
		w := emptyWorld(t, trace{Services: []serviceTrace{web}})
		must(w.createBudgets())
		w.addNode(t, "a", "4")
		w.round()
		w.makeReady()
		w.reconcileBudgets()
		var names []string
		for name := range w.pods {
			names = append(names, name)
		}
		evict := func(name string) error {
			return w.store.evict(w.ctx, client.ObjectKey{Namespace: namespace, Name: name}, &policyv1.Eviction{})
		}
		if err := evict(names[0]); err != nil {
			t.Fatal(err)
		}
		// At the same moment, before any controller has seen the first.
		if err := evict(names[1]); !errors.IsTooManyRequests(err) {
			t.Errorf("second eviction: got %v", err)
		}
		w.settle()
		w.reconcileBudgets()
		if err := evict(names[1]); !errors.IsTooManyRequests(err) {
			t.Errorf("before the new pod is ready: got %v", err)
		}
		w.round()
		w.makeReady()
		w.reconcileBudgets()
		if err := evict(names[1]); err != nil {
			t.Errorf("after that: got %v", err)
		}
		w.settle()
		equal(t, "evicted", sum(w.tally.evicted), 2)
	})
}

func TestABudgetOfPodsThatMustStay(t *testing.T) {
	two := 2
	s := newService(serviceTrace{Name: "web", Replicas: 3, Budget: &budgetConfig{MinAvailable: &two}})
	status := s.budgetStatus()
	equal(t, "desired and allowed", []int32{status.DesiredHealthy, status.DisruptionsAllowed}, []int32{2, 0})
}
