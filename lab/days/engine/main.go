// Program lab runs Karpenter's own controllers and the rest of a cluster on a virtual clock.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

func main() {
	path := flag.String("config", "", "the configuration, a JSON file")
	verbose := flag.Bool("verbose", false, "log launches and evictions to standard error")
	debugLog := flag.Bool("debug", false, "log all that Karpenter logs to standard error")
	testing.Init()
	flag.Parse()
	c, err := readConfig(*path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	// One core does all the work, and most of it makes garbage: a large heap that is collected seldom saves 5 %.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(1200)
	debug.SetMemoryLimit(1200 << 20)
	began := time.Now()
	results := make(chan result)
	go func() {
		r := <-results
		r.WallSeconds = time.Since(began).Seconds()
		writeLine(map[string]any{"result": r})
		os.Exit(0)
	}()
	// A bubble is only to be had in a test.
	test := func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			results <- simulate(c, logs{*verbose, *debugLog})
			select {}
		})
	}
	all := func(string, string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "lab", F: test}}, nil, nil)
}

type logs struct{ verbose, debug bool }

// simulate runs the whole trace in a bubble.
func simulate(c config, l logs) result {
	ctx := context.Background()
	time.Sleep(time.Until(c.Start.Add(-seconds(c.Warmup))))
	s := newStore()
	w := newWorld(ctx, c, s)
	logger := logr.Discard()
	line := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%9.1f %s\n", time.Since(c.Start).Seconds(), fmt.Sprintf(format, args...))
	}
	if l.verbose {
		w.log = line
	}
	if l.debug {
		logger = funcr.New(func(prefix, args string) { line("%s %s", prefix, args) }, funcr.Options{Verbosity: 1})
	}
	// The phase of Karpenter's loops against the trace differs by seed.
	time.Sleep(w.random.within(span{0, 10}))
	startKarpenter(ctx, w, logger)
	time.Sleep(time.Second)
	go s.deliver()
	go w.run()
	if c.Holder == nil {
		w.play(func(at float64) { writeLine(map[string]any{"progress": map[string]any{"at": at, "of": c.Trace.Lasts}}) })
		return w.finish()
	}
	t := newTurns(w)
	next := t.take(nil)
	go t.run(next)
	w.play(func(float64) {})
	t.end()
	return w.finish()
}

// writeLine writes a line of JSON to standard output.
func writeLine(value any) {
	if err := json.NewEncoder(os.Stdout).Encode(value); err != nil {
		os.Exit(1)
	}
}
