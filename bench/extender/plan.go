package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/bench/progress"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/corpus"
)

// plan is what to measure.
type plan struct {
	sizes    []int
	only     string // part of the name of a form, or empty
	pattern  string
	rounds   int
	progress *progress.Progress
}

// result is what was measured with one number of nodes in one form.
type result struct {
	form         string
	nodes        int
	body, answer int // bytes
	baseline     []time.Duration
	ours, typed  []time.Duration
	// Bytes that the process allocated in a request to ours, client included:
	// in the first one after all pools were emptied, and in the mean of later
	// ones.
	cold, warm uint64
}

func (p *plan) run(ctx context.Context) ([]result, error) {
	defer p.progress.End()
	var results []result
	for _, form := range []struct {
		name string
		body func(string, int) []byte
	}{{"full nodes", corpus.Full}, {"names", corpus.Names}} {
		if !strings.Contains(form.name, p.only) {
			continue
		}
		for _, nodes := range p.sizes {
			r := result{form: form.name, nodes: nodes}
			if err := p.measure(ctx, &r, form.body(p.pattern, nodes)); err != nil {
				return nil, err
			}
			results = append(results, r)
		}
	}
	return results, nil
}

// measure fills in r from interleaved rounds.
func (p *plan) measure(ctx context.Context, r *result, body []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	base := &echo{body: make([]byte, 2*len(body))} // encoded again it is a little longer
	urls := make([]string, 3)
	var err error
	for i, start := range []func() (string, error){
		func() (string, error) { return serve(ctx, base) },
		func() (string, error) { return serveOurs(ctx) },
		func() (string, error) { return serve(ctx, http.HandlerFunc(typed)) },
	} {
		if urls[i], err = start(); err != nil {
			return err
		}
	}
	client, err := newClient(body)
	if err != nil {
		return err
	}
	defer client.http.CloseIdleConnections()
	if base.answer, err = client.answer(ctx, urls[1]); err != nil {
		return err
	}
	r.body, r.answer = len(body), len(base.answer)
	if r.cold, r.warm, err = client.memory(ctx, urls[1]); err != nil {
		return err
	}
	return p.rounds3(ctx, r, client, urls)
}

// rounds3 asks the three servers in turn, each time from another one on. The
// typed server takes part in every fourth round only: it takes the longest.
func (p *plan) rounds3(ctx context.Context, r *result, c *client, urls []string) error {
	times := []*[]time.Duration{&r.baseline, &r.ours, &r.typed}
	for round := range p.rounds {
		p.progress.Say(fmt.Sprintf("%s, %d nodes", r.form, r.nodes), float64(round)/float64(p.rounds))
		for i := range urls {
			k := (i + round) % len(urls)
			if k == 2 && round%4 != 0 {
				continue
			}
			took, err := c.time(ctx, urls[k])
			if err != nil {
				return err
			}
			*times[k] = append(*times[k], took)
		}
	}
	return nil
}

// memory is what a request to url makes the process allocate.
func (c *client) memory(ctx context.Context, url string) (cold, warm uint64, err error) {
	for range 3 { // a pool survives one collection
		runtime.GC()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	allocated := func(times int) (uint64, error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			if err := c.send(ctx, url, io.Discard); err != nil {
				return 0, err
			}
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(times), nil
	}
	if cold, err = allocated(1); err == nil {
		warm, err = allocated(50)
	}
	return cold, warm, err
}
