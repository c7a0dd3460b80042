package main

import (
	"sort"
	"time"
)

// tally is what a run costs. Times are summed as levels that change; what lies before the start is not counted.
type tally struct {
	start    time.Time
	last     time.Time
	level    levels
	total    levels // levels times minutes
	counts   map[string]int
	evicted  map[string]int
	killed   map[string]int
	commands map[string]int
	waits    []float64
}

// levels are amounts at one time.
type levels struct{ nodes, cores, price float64 }

func newTally(start time.Time) *tally {
	return &tally{
		start: start, last: start,
		counts: map[string]int{}, evicted: map[string]int{}, killed: map[string]int{}, commands: map[string]int{},
	}
}

// advance adds the time since the last change.
func (t *tally) advance() {
	now := time.Now()
	if !now.After(t.last) {
		return
	}
	minutes := now.Sub(t.last).Minutes()
	t.total.nodes += minutes * t.level.nodes
	t.total.cores += minutes * t.level.cores
	t.total.price += minutes * t.level.price
	t.last = now
}

func (t *tally) isCounting() bool { return !time.Now().Before(t.start) }

func (t *tally) count(what map[string]int, name string) {
	if t.isCounting() {
		what[name]++
	}
}

func (t *tally) launch(i *instance) {
	t.count(t.counts, "launched")
	t.instances(i, 1)
}

func (t *tally) terminate(i *instance) {
	t.count(t.counts, "gone")
	switch i.reason {
	case drifted:
		t.count(t.counts, "drifted")
	case interrupted:
		t.count(t.counts, "interrupted")
	}
	t.instances(i, -1)
}

func (t *tally) instances(i *instance, by float64) {
	t.advance()
	t.level.nodes += by
	t.level.cores += by * i.cores
	t.level.price += by * i.price / 60
}

// waited counts how long a pod waited for a node.
func (t *tally) waited(p *pod) {
	if !p.created.Before(t.start) {
		t.waits = append(t.waits, time.Since(p.created).Seconds())
	}
}

func (t *tally) evict(reason string)     { t.count(t.evicted, reason) }
func (t *tally) jobKilled(reason string) { t.count(t.killed, reason) }
func (t *tally) jobRan()                 { t.count(t.counts, "jobsRun") }
func (t *tally) imagePulled()            { t.count(t.counts, "imagesPulled") }
func (t *tally) markChanged()            { t.count(t.counts, "marks") }

// result has the fields of the protocol.
type result struct {
	Karpenter    string         `json:"karpenter"`
	Launched     int            `json:"launched"`
	Gone         int            `json:"gone"`
	NodeMinutes  float64        `json:"nodeMinutes"`
	CoreMinutes  float64        `json:"coreMinutes"`
	Price        float64        `json:"price"`
	Evicted      int            `json:"evicted"`
	EvictedBy    map[string]int `json:"evictedBy"`
	JobsKilled   int            `json:"jobsKilled"`
	JobsKilledBy map[string]int `json:"jobsKilledBy"`
	JobsRun      int            `json:"jobsRun"`
	WaitMean     float64        `json:"waitMean"`
	Wait95       float64        `json:"wait95"`
	ImagesPulled int            `json:"imagesPulled"`
	Disruptions  map[string]int `json:"disruptions"`
	Drifted      int            `json:"drifted"`
	DriftSeconds *float64       `json:"driftSeconds"`
	Interrupted  int            `json:"interrupted"`
	Marks        int            `json:"marks"`
	WallSeconds  float64        `json:"wallSeconds"`
}

// finish is the result of the run at its end.
func (w *world) finish() result {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tally
	t.advance()
	for _, p := range w.waiting {
		t.waited(p)
	}
	mean, p95 := meanAnd95(t.waits)
	return result{
		Karpenter: karpenterVersion,
		Launched:  t.counts["launched"], Gone: t.counts["gone"],
		NodeMinutes: t.total.nodes, CoreMinutes: t.total.cores, Price: t.total.price,
		Evicted: sum(t.evicted), EvictedBy: t.evicted, JobsKilled: sum(t.killed), JobsKilledBy: t.killed,
		JobsRun: t.counts["jobsRun"], WaitMean: mean, Wait95: p95, ImagesPulled: t.counts["imagesPulled"],
		Disruptions: t.commands, Drifted: t.counts["drifted"], DriftSeconds: driftSeconds(w.drifts),
		Interrupted: t.counts["interrupted"], Marks: t.counts["marks"],
	}
}

func meanAnd95(values []float64) (mean, p95 float64) {
	if len(values) == 0 {
		return 0, 0
	}
	sort.Float64s(values)
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean, values[len(values)*95/100]
}

func sum(counts map[string]int) int {
	all := 0
	for _, n := range counts {
		all += n
	}
	return all
}
