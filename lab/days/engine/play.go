package main

import (
	"sort"
	"time"
)

// step is one thing of the trace.
type step struct {
	at float64
	do func()
}

// play sets the cluster up, lets the services start while it warms up, and then plays the trace.
func (w *world) play(progress func(at float64)) {
	must(w.store.Create(w.ctx, nodeClass()))
	for _, p := range w.config.Pools {
		pool, err := nodePool(p)
		must(err)
		must(w.store.Create(w.ctx, pool))
	}
	must(w.createDaemonSets())
	must(w.createBudgets())
	time.Sleep(3 * time.Second)
	w.mu.Lock()
	for _, t := range w.config.Trace.Services {
		w.services = append(w.services, newService(t))
	}
	w.mu.Unlock()
	w.awake()
	for _, s := range w.steps(progress) {
		time.Sleep(time.Until(w.config.Start.Add(seconds(s.at))))
		s.do()
	}
}

// steps are all things of the trace in their order, and a report after each hundredth of its time.
func (w *world) steps(progress func(at float64)) []step {
	t := w.config.Trace
	var steps []step
	add := func(at float64, do func()) {
		if at <= t.Lasts {
			steps = append(steps, step{at, do})
		}
	}
	for i := range 101 {
		at := t.Lasts * float64(i) / 100
		add(at, func() { progress(at) })
	}
	for _, j := range t.Jobs {
		add(j.At, func() { w.startJob(j) })
	}
	for i, s := range t.Services {
		for _, c := range s.Changes {
			add(c.At, func() { w.change(w.services[i], c.Replicas) })
		}
	}
	for _, d := range t.Drifts {
		add(d.At, func() { w.driftPools(d) })
	}
	for _, i := range t.Interruptions {
		add(i.At, func() { w.interrupt(max(1, i.Count)) })
	}
	sort.SliceStable(steps, func(i, j int) bool { return steps[i].at < steps[j].at })
	return steps
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
