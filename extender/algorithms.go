package extender

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/extender/metrics"
)

// algorithms are those that a configuration has in use, and their work in the
// background.
type algorithms struct {
	config   *config.Config
	byName   map[string]algorithm.Algorithm
	panicked sync.Map // name to what, of those in the background
	cancel   context.CancelFunc
	working  sync.WaitGroup
}

// newAlgorithms makes the algorithms that c uses. They do not work yet.
func newAlgorithms(c *config.Config, logger logr.Logger) (*algorithms, error) {
	all := &algorithms{config: c, byName: make(map[string]algorithm.Algorithm), cancel: func() {}}
	for _, name := range c.InUse() {
		entry := c.Algorithms[name]
		one, err := algorithm.New(entry.Kind, entry.Config, algorithm.Env{Logger: logger.WithName("algorithm").WithName(name)})
		if err != nil {
			return nil, fmt.Errorf("algorithms.%s: %w", name, err)
		}
		all.byName[name] = one
	}
	return all, nil
}

// start lets those work that work in the background.
func (a *algorithms) start(panicked func(name string, what any, stack []byte)) {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	for name, one := range a.byName {
		worker, ok := one.(algorithm.Worker)
		if !ok {
			continue
		}
		a.working.Go(func() {
			defer func() {
				if what := recover(); what != nil {
					a.panicked.Store(name, what)
					panicked(name, what, debug.Stack())
				}
			}()
			worker.Run(ctx)
		})
	}
}

// stopLimit is how long algorithms get to stop.
const stopLimit = 5 * time.Second

// stop ends the work and waits for its end, but not for ever.
func (a *algorithms) stop() {
	a.cancel()
	done := make(chan struct{})
	go func() { a.working.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(stopLimit):
	}
}

// health is of all of them, by name.
func (a *algorithms) health() []metrics.Algorithm {
	var all []metrics.Algorithm
	for name, one := range a.byName {
		health := algorithm.Health{OK: true, Detail: "ok"}
		if what, panicked := a.panicked.Load(name); panicked {
			health = algorithm.Health{Detail: fmt.Sprint("panicked in the background: ", what)}
		} else if worker, ok := one.(algorithm.Worker); ok {
			health = worker.Health()
		}
		all = append(all, metrics.Algorithm{Name: name, Health: health})
	}
	slices.SortFunc(all, func(a, b metrics.Algorithm) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// chain is that of the algorithms with these names.
func (a *algorithms) chain(names []string) (links algorithm.Chain) {
	for _, name := range names {
		links = append(links, algorithm.Link{Name: name, Algorithm: a.byName[name], Weight: a.config.Algorithms[name].Weight})
	}
	return links
}
