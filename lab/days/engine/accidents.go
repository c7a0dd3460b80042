package main

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// Why a node goes. The other reasons are Karpenter's own words.
const (
	drifted     = "drifted"
	interrupted = "interrupted"
)

// drift are the nodes that are to be replaced since a template has changed.
type drift struct {
	at    time.Time
	nodes map[string]bool
	took  *time.Duration
}

func (d *drift) nodeGone(name string) {
	if delete(d.nodes, name); len(d.nodes) == 0 && d.took == nil {
		took := time.Since(d.at)
		d.took = &took
	}
}

// driftPools changes the template of NodePools, so that all their nodes drift.
func (w *world) driftPools(t driftTrace) {
	w.mu.Lock()
	d := &drift{at: time.Now(), nodes: map[string]bool{}}
	for name, i := range w.instances {
		if t.Pool == "" || t.Pool == i.pool {
			d.nodes[name] = true
		}
	}
	if len(d.nodes) == 0 {
		d.took = new(time.Duration) // nothing is to be replaced
	}
	w.drifts = append(w.drifts, d)
	generation := len(w.drifts)
	w.mu.Unlock()
	for _, p := range w.config.Pools {
		if t.Pool != "" && t.Pool != p.Name {
			continue
		}
		body := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"example.com/generation":"%d"}}}}}`, generation)
		pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: p.Name}}
		if err := w.store.Patch(w.ctx, pool, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
			panic(err)
		}
	}
}

// driftSeconds is the mean time of the drifts; nil where there was none or one has not ended.
func driftSeconds(drifts []*drift) *float64 {
	mean := 0.0
	for _, d := range drifts {
		if d.took == nil {
			return nil
		}
		mean += d.took.Seconds() / float64(len(drifts))
	}
	if len(drifts) == 0 {
		return nil
	}
	return &mean
}

// interrupt takes nodes away as a spot interruption does: the NodeClaim is deleted at once, and after two minutes the
// machine ends with all that still runs on it.
func (w *world) interrupt(count int) {
	w.mu.Lock()
	var names []string
	for name, n := range w.nodes {
		if n.isUsable && w.instances[name] != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	w.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:min(count, len(names))]
	var claims []string
	for _, name := range names {
		w.instances[name].reason = interrupted
		claims = append(claims, w.instances[name].claim)
	}
	w.mu.Unlock()
	for _, claim := range claims {
		_ = w.store.Delete(w.ctx, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim}})
	}
	time.AfterFunc(2*time.Minute, func() {
		for _, name := range names {
			w.endPods(name)
		}
	})
}

// endPods ends the pods of a machine that is gone.
func (w *world) endPods(node string) {
	w.mu.Lock()
	var names []string
	if n := w.nodes[node]; n != nil {
		for name, p := range n.pods {
			names = append(names, name)
			if !p.isTerminating && !p.isDaemon {
				p.isTerminating = true
				w.countEviction(p)
			}
		}
	}
	w.mu.Unlock()
	for _, name := range names {
		w.deletePod(name, 0)
	}
}
