package main

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTheJobControllerDoublesItsPauseUpToTenMinutes(t *testing.T) {
	for attempts, want := range map[int]time.Duration{
		1: 10 * time.Second, 2: 20 * time.Second, 6: 320 * time.Second, 7: 10 * time.Minute,
		31: 10 * time.Minute, 100: 10 * time.Minute, 2_000: 10 * time.Minute,
	} {
		j := &job{attempts: attempts}
		equal(t, "pause", j.pause(10), want)
	}
}

func TestAPodThatIsDeletedWhileItWaitsHasWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{Services: []serviceTrace{{Name: "web", Replicas: 1, CPU: quantityOf("1")}}})
		w.round()
		time.Sleep(90 * time.Second)
		for name := range w.pods {
			w.deletePod(name, 0)
		}
		w.settle()
		equal(t, "waits", w.tally.waits, []float64{90})
	})
}

func TestADriftOfNoNodesTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{})
		pool, err := nodePool(poolConfig{Name: "default", ConsolidateAfter: "0s"})
		must(err)
		create(t, w, pool)
		w.driftPools(driftTrace{Pool: "default"})
		time.Sleep(time.Hour)
		w.drifts[0].nodeGone("a")
		equal(t, "seconds", driftSeconds(w.drifts), 0)
	})
}
