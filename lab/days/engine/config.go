package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// config is one run: the work, the cluster and the NodePools. Times are in seconds.
type config struct {
	Trace         trace        `json:"trace"`
	Seed          int64        `json:"seed"`
	Warmup        float64      `json:"warmup"`
	Start         time.Time    `json:"start"` // second 0 of the trace
	Pools         []poolConfig `json:"pools"`
	InstanceTypes []typeConfig `json:"instanceTypes"`
	Boot          span         `json:"boot"`      // from a node's launch until it is ready
	ImagePull     span         `json:"imagePull"` // the first pull of an image on a node
	Batch         span         `json:"batch"`     // Karpenter's idle and longest time of a batch of pods
	PodStart      float64      `json:"podStart"`  // from binding until the containers run, without the pull
	PodStop       float64      `json:"podStop"`   // from the deletion of a pod until it is gone
	JobRetry      float64      `json:"jobRetry"`  // until an evicted pod of a Job is created again
	Ties          string       `json:"ties"`      // which of the nodes with the best score a pod gets: "random" or "first"
	Holder        *holderSide  `json:"holder"`    // none: Karpenter alone
}

// holderSide says that a holder is coupled by standard input and output.
type holderSide struct {
	LaunchEventDelay span `json:"launchEventDelay"`
}

type poolConfig struct {
	Name                string            `json:"name"`
	ConsolidateAfter    string            `json:"consolidateAfter"`
	ConsolidationPolicy string            `json:"consolidationPolicy"`
	Budgets             []json.RawMessage `json:"budgets"`
	Types               []string          `json:"types"` // names of instance types
}

type typeConfig struct {
	Name           string   `json:"name"`
	CPU            quantity `json:"cpu"`
	Memory         quantity `json:"memory"`
	Pods           int64    `json:"pods"`
	Price          float64  `json:"price"`       // dollars an hour
	ReservedCPU    quantity `json:"reservedCpu"` // what the kubelet and the system take
	ReservedMemory quantity `json:"reservedMemory"`
}

// trace is the work of a cluster. What a change or a job does not name stays as it is.
type trace struct {
	About         string         `json:"about"`
	Lasts         float64        `json:"lasts"`
	Services      []serviceTrace `json:"services"`
	Jobs          []jobTrace     `json:"jobs"`
	Daemons       []daemonTrace  `json:"daemons"`
	Drifts        []driftTrace   `json:"drifts"`
	Interruptions []interruption `json:"interruptions"`
}

type serviceTrace struct {
	Name         string        `json:"name"`
	Replicas     int           `json:"replicas"`
	CPU          quantity      `json:"cpu"`
	Memory       quantity      `json:"memory"`
	Changes      []change      `json:"changes"`
	Pool         string        `json:"pool"`
	Budget       *budgetConfig `json:"pdb"`
	DoNotDisrupt bool          `json:"doNotDisrupt"`
	Starts       float64       `json:"starts"` // from running until ready
	Surge        *float64      `json:"surge"`
	Unavailable  *float64      `json:"unavailable"`
	Spread       bool          `json:"spread"` // over hosts, as a hard rule
}

// change scales a service; without replicas it rolls a new version out.
type change struct {
	At       float64 `json:"at"`
	Replicas *int    `json:"replicas"`
}

type budgetConfig struct {
	MaxUnavailable *int `json:"maxUnavailable"`
	MinAvailable   *int `json:"minAvailable"`
}

type jobTrace struct {
	Name         string   `json:"name"`
	At           float64  `json:"at"`
	Runs         float64  `json:"runs"`
	CPU          quantity `json:"cpu"`
	Memory       quantity `json:"memory"`
	Image        string   `json:"image"`
	Pool         string   `json:"pool"`
	DoNotDisrupt bool     `json:"doNotDisrupt"`
}

type daemonTrace struct {
	Name   string   `json:"name"`
	CPU    quantity `json:"cpu"`
	Memory quantity `json:"memory"`
}

// driftTrace changes the template of one NodePool, or of all of them.
type driftTrace struct {
	At   float64 `json:"at"`
	Pool string  `json:"pool"`
}

type interruption struct {
	At    float64 `json:"at"`
	Count int     `json:"count"`
}

// span is the least and the most of a random time in seconds.
type span [2]float64

// quantity is a Kubernetes quantity, or a plain number.
type quantity struct{ resource.Quantity }

func (q *quantity) UnmarshalJSON(data []byte) error {
	parsed, err := resource.ParseQuantity(string(bytes.Trim(data, `"`)))
	q.Quantity = parsed
	return err
}

func readConfig(path string) (config, error) {
	c := config{
		Seed:      1,
		Warmup:    600,
		Start:     time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC),
		Boot:      span{30, 90},
		ImagePull: span{2, 20},
		Batch:     span{1, 10},
		PodStart:  0.3,
		PodStop:   2,
		JobRetry:  10,
		Ties:      "random",
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if err := strict(data, &c); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, c.check()
}

// strict refuses fields that do not exist, because they are mistakes.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func (c *config) check() error {
	if len(c.Pools) == 0 || len(c.InstanceTypes) == 0 {
		return fmt.Errorf("the configuration needs at least one of pools and one of instanceTypes")
	}
	pools := map[string]bool{"": true}
	for _, p := range c.Pools {
		pools[p.Name] = true
		isWanted := func(t typeConfig) bool { return slices.Contains(p.Types, t.Name) }
		if !slices.ContainsFunc(c.InstanceTypes, isWanted) {
			return fmt.Errorf("NodePool %s: none of the instance types is in %v", p.Name, p.Types)
		}
	}
	for _, s := range c.Trace.Services {
		if !pools[s.Pool] {
			return fmt.Errorf("service %s: there is no NodePool %s", s.Name, s.Pool)
		}
	}
	for _, j := range c.Trace.Jobs {
		if !pools[j.Pool] {
			return fmt.Errorf("job %s: there is no NodePool %s", j.Name, j.Pool)
		}
	}
	if c.Ties != "random" && c.Ties != "first" {
		return fmt.Errorf("ties: %q is neither random nor first", c.Ties)
	}
	if c.Trace.Lasts <= 0 {
		return fmt.Errorf("the trace lasts %g seconds", c.Trace.Lasts)
	}
	return nil
}

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
