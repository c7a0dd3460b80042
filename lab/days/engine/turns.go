package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing/synctest"
	"time"
)

// turns couples a holder in another process: while it reads its answers from standard input, virtual time stands still.
type turns struct {
	w        *world
	api      *api
	in       *bufio.Reader
	launches chan launch
	turn     chan struct{} // full during a turn of the holder; waiting for a mutex would stop virtual time
}

// turn opens the holder's turn.
type turn struct {
	Now      int64    `json:"now"`
	Launches []launch `json:"launches"`
	Gone     []string `json:"gone"`
}

// message is a request of the holder, or the end of its turn.
type message struct {
	request
	Done bool `json:"done"`
	// When the holder's clock has something to do, in milliseconds; nil: it waits for a launch.
	Next *int64 `json:"next"`
}

func newTurns(w *world) *turns {
	t := &turns{w: w, api: newAPI(w.store), in: bufio.NewReaderSize(os.Stdin, 1<<20), launches: make(chan launch, 1<<16), turn: make(chan struct{}, 1)}
	w.mu.Lock()
	w.launches = t.launches
	w.mu.Unlock()
	return t
}

// run alternates between the holder and the rest of the world, after a first turn.
func (t *turns) run(next *int64) {
	for {
		next = t.take(t.wait(next))
	}
}

// wait lets time pass until the holder has something to do.
func (t *turns) wait(next *int64) []launch {
	var due <-chan time.Time
	if next != nil {
		due = time.After(time.Until(time.UnixMilli(*next)))
	}
	var launched []launch
	select {
	case l := <-t.launches:
		launched = append(launched, l)
	case <-due:
	}
	for len(t.launches) > 0 {
		launched = append(launched, <-t.launches)
	}
	return launched
}

// take gives the holder a turn.
func (t *turns) take(launched []launch) (next *int64) {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	synctest.Wait() // all that happens at this moment has happened
	t.w.mu.Lock()
	gone := t.w.gone
	t.w.gone = nil
	t.w.mu.Unlock()
	writeLine(turn{time.Now().UnixMilli(), append([]launch{}, launched...), append([]string{}, gone...)})
	return t.serve()
}

// end waits for a turn that has begun, and lets no other begin.
func (t *turns) end() { t.turn <- struct{}{} }

// serve answers requests until the holder's turn ends, and returns when it wants the next one.
func (t *turns) serve() *int64 {
	for {
		line, err := t.in.ReadBytes('\n')
		if err == io.EOF {
			os.Exit(1) // the other process has ended
		}
		var m message
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "a line of the holder cannot be read:", err)
			os.Exit(1)
		}
		if m.Done {
			return m.Next
		}
		writeLine(t.api.answer(m.request))
	}
}
