package main

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAPodGoesToTheEmptierNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{})
		w.addNode(t, "a", "4")
		w.addPod(t, podSpec{name: "first", cpu: resource.MustParse("2")})
		w.schedule()
		w.settle()
		w.addNode(t, "b", "4")
		w.addPod(t, podSpec{name: "second", cpu: resource.MustParse("1")})
		w.schedule()
		equal(t, "node of the second pod", w.nodeOf("second"), "b")
	})
}

func TestAPodWithoutRoomIsReportedOnceForEachNumberOfNodesAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{})
		w.addNode(t, "a", "2")
		w.addPod(t, podSpec{name: "large", cpu: resource.MustParse("3")})
		w.schedule()
		w.settle()
		p := &corev1.Pod{}
		if err := w.store.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: "large"}, p); err != nil {
			t.Fatal(err)
		}
		equal(t, "reason", p.Status.Conditions[0].Reason, corev1.PodReasonUnschedulable)
		version := p.ResourceVersion
		w.schedule()
		_ = w.store.Get(w.ctx, client.ObjectKeyFromObject(p), p)
		equal(t, "version after the second try", p.ResourceVersion, version)
		w.addNode(t, "c", "2")
		w.schedule()
		_ = w.store.Get(w.ctx, client.ObjectKeyFromObject(p), p)
		equal(t, "message with another node", p.Status.Conditions[0].Message, "0/2 nodes are available")
		w.addNode(t, "b", "4")
		w.schedule()
		equal(t, "node", w.nodeOf("large"), "b")
	})
}

func TestMemoryAndTheNumberOfPodsLimitANode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{})
		w.addNode(t, "a", "4")
		w.addPod(t, podSpec{name: "wide", memory: resource.MustParse("17Gi")})
		w.nodes["a"].room.pods = 1
		w.addPod(t, podSpec{name: "one"})
		w.schedule()
		w.addPod(t, podSpec{name: "two"})
		w.schedule()
		equal(t, "nodes", []string{w.nodeOf("wide"), w.nodeOf("one"), w.nodeOf("two")}, []string{"", "a", ""})
	})
}

func TestATaintKeepsPodsAwayThatDoNotTolerateIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{})
		w.addNode(t, "a", "4")
		w.nodes["a"].obj.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		w.addPod(t, podSpec{name: "plain"})
		create(t, w, w.daemonPod(daemonTrace{Name: "any"}, ""))
		w.schedule()
		equal(t, "nodes", []string{w.nodeOf("plain"), w.nodeOf("any-")}, []string{"", "a"})
	})
}

func TestPodsOfOneVersionSpreadOverHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{Services: []serviceTrace{{Name: "web", Replicas: 2, CPU: quantityOf("100m")}}})
		// The large node stays the emptier one.
		w.addNode(t, "large", "32")
		w.addNode(t, "small", "2")
		w.round()
		w.schedule()
		w.settle()
		equal(t, "pods on each node", []int{len(w.nodes["large"].pods), len(w.nodes["small"].pods)}, []int{1, 1})
	})
}

func TestAPodThatRequestsNothingCountsWhereRoomIsScored(t *testing.T) {
	equal(t, "millicores", counted(resources{pods: 1}).cpu, 100)
	equal(t, "bytes", counted(resources{cpu: 500}).memory, 200<<20)
	equal(t, "a request", counted(resources{cpu: 5, memory: 7}), resources{cpu: 5, memory: 7})
}

func TestTheHardRuleLeavesAPodWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{Services: []serviceTrace{{Name: "web", Replicas: 4, CPU: quantityOf("1"), Spread: true}}})
		w.addNode(t, "large", "8")
		w.addNode(t, "small", "1")
		w.reconcileServices()
		w.settle()
		w.schedule()
		w.settle()
		equal(t, "pods that wait", len(w.waiting), 1)
	})
}

func TestWaitingPodsAreTriedByLot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{})
		w.addPod(t, podSpec{name: "a"})
		w.addPod(t, podSpec{name: "b"})
		first := map[string]bool{}
		for range 20 {
			first[w.queue()[0].name] = true
		}
		equal(t, "the first", first, map[string]bool{"a": true, "b": true})
	})
}

func TestEqualNodesGetPodsByLotOrInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chosen := func(ties string) map[string]bool {
			w := emptyWorld(t, trace{})
			w.config.Ties = ties
			w.addNode(t, "b", "4")
			w.addNode(t, "a", "4")
			seen := map[string]bool{}
			for range 20 {
				w.addPod(t, podSpec{name: "p", cpu: resource.MustParse("1")})
				w.schedule()
				w.settle()
				seen[w.nodeOf("p")] = true
				w.deletePod("p", 0)
				w.settle()
			}
			return seen
		}
		equal(t, "first", chosen("first"), map[string]bool{"b": true})
		equal(t, "random", chosen("random"), map[string]bool{"a": true, "b": true})
	})
}
