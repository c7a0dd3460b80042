package main

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// rolling is a service with ready pods of its version.
func rolling(t *testing.T, replicas int) (*world, *service) {
	t.Helper()
	w := emptyWorld(t, trace{Services: []serviceTrace{{Name: "web", Replicas: replicas, CPU: quantityOf("100m")}}})
	for _, name := range []string{"a", "b", "c"} {
		w.addNode(t, name, "8")
	}
	w.round()
	w.makeReady()
	return w, w.services[0]
}

// round is one round of controllers and scheduler.
func (w *world) round() {
	w.reconcileServices()
	w.settle()
	w.schedule()
	w.settle()
}

// sizes are the numbers of pods by ReplicaSet, and how many of them are ready.
func sizes(s *service) string {
	text := ""
	for _, set := range s.sets {
		text += fmt.Sprintf("%d(%d) ", len(set.pods), set.available())
	}
	return text
}

func TestARolloutSurgesByAQuarterAndKeepsThreeQuartersReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := rolling(t, 8)
		equal(t, "before", sizes(s), "8(8) ")
		w.change(s, nil)
		w.round()
		w.round()
		// Two more pods than replicas, of which two old ones may be missing.
		equal(t, "at first", sizes(s), "6(6) 4(0) ")
		for i := range 8 {
			w.makeReady()
			w.round()
			if all := countPods(s); all > 10 {
				t.Errorf("step %d: %d pods", i, all)
			}
			if ready := countReady(s); ready < 6 {
				t.Errorf("step %d: %d pods are ready", i, ready)
			}
		}
		equal(t, "at last", sizes(s), "8(8) ")
	})
}

func countPods(s *service) (n int) {
	for _, set := range s.sets {
		n += len(set.pods)
	}
	return n
}

func countReady(s *service) (n int) {
	for _, set := range s.sets {
		n += set.available()
	}
	return n
}

func TestASmallServiceIsRolledOutPodByPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := rolling(t, 1)
		w.change(s, nil)
		w.round()
		equal(t, "the old pod stays until the new one is ready", sizes(s), "1(1) 1(0) ")
		w.makeReady()
		w.round()
		w.round()
		equal(t, "at last", sizes(s), "1(1) ")
	})
}

func TestANewSizeIsReachedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := rolling(t, 4)
		for _, n := range []int{9, 2} {
			w.change(s, &n)
			w.round()
			equal(t, "pods", countPods(s), n)
		}
	})
}

func TestAReplicaSetDeletesFirstWhatServesLeast(t *testing.T) {
	now := time.Now()
	s := &service{}
	set := &replicaSet{pods: map[string]*pod{}}
	s.sets = []*replicaSet{set}
	uid := 0
	add := func(name, node string, phase corev1.PodPhase, ready time.Duration) {
		o := &corev1.Pod{}
		uid++
		o.UID, o.Status.Phase = types.UID(fmt.Sprintf("%02d", uid)), phase
		p := &pod{name: name, node: node, obj: o}
		if ready > 0 {
			p.readySince = now.Add(-ready)
		}
		set.pods[name] = p
	}
	add("old", "a", corev1.PodRunning, 8*time.Hour)
	add("middle", "f", corev1.PodRunning, 40*time.Minute)
	add("young", "b", corev1.PodRunning, time.Minute)
	add("as-young", "g", corev1.PodRunning, time.Minute+time.Second)
	add("crowded1", "c", corev1.PodRunning, 2*time.Hour)
	add("crowded2", "c", corev1.PodRunning, time.Minute)
	add("not-ready", "d", corev1.PodRunning, 0)
	add("starting", "e", corev1.PodPending, 0)
	add("waiting", "", corev1.PodPending, 0)
	equal(t, "order", s.surplus(set, now), []string{"waiting", "starting", "not-ready", "crowded2", "crowded1", "young", "as-young", "middle", "old"})
}
