package extender

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/metrics"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/server"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/wire"
)

// crew is the algorithms that a configuration has in use, and their work in
// the background.
type crew struct {
	members map[string]algorithm.Algorithm
	fallen  sync.Map // name to what it panicked with, of those in the background
	cancel  context.CancelFunc
	working sync.WaitGroup
	stopped atomic.Bool
}

// hire makes the algorithms that c uses. They do not work yet.
func hire(c *config.Config, logger logr.Logger) (*crew, error) {
	crew := &crew{members: make(map[string]algorithm.Algorithm), cancel: func() {}}
	for _, name := range c.InUse() {
		entry := c.Algorithms[name]
		resolved, err := algorithm.Resolve(entry.Kind, entry.Config)
		if err != nil {
			return nil, fmt.Errorf("algorithms.%s: %w", name, err)
		}
		member, err := algorithm.New(entry.Kind, resolved, algorithm.Env{Logger: logger.WithName("algorithm").WithName(name)})
		if err != nil {
			return nil, fmt.Errorf("algorithms.%s: %w", name, err)
		}
		crew.members[name] = member
	}
	return crew, nil
}

// inherit lets those who can go on with what the crew before them knows. It may
// be nil.
func (c *crew) inherit(before *crew) {
	if before == nil {
		return
	}
	for _, member := range c.members {
		heir, ok := member.(algorithm.Heir)
		if !ok {
			continue
		}
		for _, former := range before.members {
			heir.Inherit(former)
		}
	}
}

// start lets those work that have work to do.
func (c *crew) start(panicked func(name string, what any, stack []byte)) {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	for name, member := range c.members {
		runner, ok := member.(algorithm.Runner)
		if !ok {
			continue
		}
		c.working.Add(1)
		go func() {
			defer c.working.Done()
			defer func() {
				if what := recover(); what != nil {
					c.fallen.Store(name, what)
					panicked(name, what, debug.Stack())
				}
			}()
			runner.Run(ctx)
		}()
	}
}

// stop ends the work and waits for its end, but not for ever.
func (c *crew) stop() {
	if c.stopped.Swap(true) {
		return
	}
	c.cancel()
	done := make(chan struct{})
	go func() { c.working.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(stopLimit):
	}
}

// health is of those who report theirs, or who have panicked, by name.
func (c *crew) health() []metrics.Algorithm {
	var all []metrics.Algorithm
	for name, member := range c.members {
		if what, fallen := c.fallen.Load(name); fallen {
			all = append(all, metrics.Algorithm{Name: name, Health: algorithm.Health{Detail: fmt.Sprint("panicked in the background: ", what)}})
		} else if reporter, ok := member.(algorithm.Reporter); ok {
			all = append(all, metrics.Algorithm{Name: name, Health: reporter.Health()})
		} else {
			all = append(all, metrics.Algorithm{Name: name, Health: algorithm.Health{OK: true, Detail: "ok"}})
		}
	}
	slices.SortFunc(all, func(a, b metrics.Algorithm) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// misfits say why a form of request is not for a mode, if so.
var misfits = map[config.Mode]func(wire.Form) string{
	config.Auto: func(wire.Form) string { return "" },
	config.FullNodes: func(form wire.Form) string {
		if form == wire.Full {
			return ""
		}
		return "this extender answers requests with full nodes (mode full-nodes), and this one has " + form.String() +
			": set nodeCacheCapable: false in the scheduler's configuration"
	},
	config.Names: func(form wire.Form) string {
		if form == wire.Names {
			return ""
		}
		return "this extender answers requests with node names (mode names), and this one has " + form.String() +
			": set nodeCacheCapable: true in the scheduler's configuration"
	},
}

// setup is what the server needs to know.
func (c *crew) setup(from *config.Config) *server.Setup {
	chain := func(names []string) algorithm.Chain {
		var links algorithm.Chain
		for _, name := range names {
			links = append(links, algorithm.Link{Name: name, Algorithm: c.members[name], Weight: from.Algorithms[name].Weight})
		}
		return links
	}
	return &server.Setup{
		Filter: chain(from.Filter), Prioritize: chain(from.Prioritize),
		Mode: string(from.Mode), Misfit: misfits[from.Mode],
		Reporters:          c.health,
		ClientCertificates: from.TLS.ClientCAFile != "",
		Requests:           int64(from.Limits.Requests),
		BodyBytes:          from.Limits.Body.Value(), BufferBytes: from.Limits.Buffers.Value(),
	}
}
