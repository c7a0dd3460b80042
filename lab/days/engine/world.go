package main

import (
	"context"
	"math/rand"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// namespace is that of all pods.
const namespace = "default"

// world is the rest of a cluster on the store: scheduler, kubelets and the controllers of the work.
type world struct {
	ctx        context.Context
	config     config
	store      *store
	capacities map[string]corev1.ResourceList
	wake       chan struct{}
	log        func(format string, args ...any)

	mu        sync.Mutex // guards what follows
	random    random
	instances map[string]*instance // by the name of the node that they are or will be
	nodes     map[string]*node
	pods      map[string]*pod
	waiting   map[string]*pod // pods without a node
	services  []*service
	jobs      map[string]*job
	drifts    []*drift
	tally     *tally
	launches  chan<- launch // nil without a holder
	gone      []string      // instances that ended since the holder's last turn
	serial    int
}

func newWorld(ctx context.Context, c config, s *store) *world {
	w := &world{
		ctx: ctx, config: c, store: s,
		capacities: map[string]corev1.ResourceList{},
		wake:       make(chan struct{}, 1),
		log:        func(string, ...any) {},
		random:     random{rand.New(rand.NewSource(c.Seed))},
		instances:  map[string]*instance{},
		nodes:      map[string]*node{},
		pods:       map[string]*pod{},
		waiting:    map[string]*pod{},
		jobs:       map[string]*job{},
		tally:      newTally(c.Start),
	}
	for _, t := range instanceTypes(c.InstanceTypes) {
		w.capacities[t.Name] = t.Capacity
	}
	s.watchers = append(s.watchers, w.see)
	return w
}

// run is the loop of scheduler and controllers: they act some milliseconds after what they saw.
func (w *world) run() {
	for range w.wake {
		time.Sleep(5 * time.Millisecond)
		w.schedule()
		w.reconcileServices()
		w.reconcileBudgets()
	}
}

// awake lets the loop run once more.
func (w *world) awake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// see is the watch of scheduler, kubelets and controllers.
func (w *world) see(old, new client.Object) {
	obj := new
	if obj == nil {
		obj = old
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch o := obj.(type) {
	case *corev1.Node:
		w.seeNode(o, new == nil)
	case *corev1.Pod:
		w.seePod(o, new == nil)
	}
}

// retry repeats a write that met another one.
func (w *world) retry(write func() error) {
	if err := write(); err != nil && !isGone(err) {
		time.AfterFunc(50*time.Millisecond, func() { w.retry(write) })
	}
}

// random is the source of all random times of a run.
type random struct{ *rand.Rand }

func (r random) within(s span) time.Duration {
	return seconds(s[0] + r.Float64()*(s[1]-s[0]))
}
