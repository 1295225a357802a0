// Package extender is the scheduler extender: it makes the algorithms of a
// configuration, and serves them over HTTP until it is stopped. cmd/extender runs it as
// a program, the simulator in its own process.
//
// It bounds what requests can take, isolates panics of algorithms, and answers the requests
// in flight when it is stopped. Own algorithms implement algorithm.Algorithm and are added
// by Register before New.
package extender

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// Options configures New.
type Options struct {
	Config  *Config     // loaded, or completed by its Complete
	Logger  logr.Logger // logs requests at verbosity 4
	Version string      // for the pages
}

// An Extender answers a scheduler. Make one with New.
type Extender struct {
	Options
	metrics *metrics
	certs   certificates

	algorithms map[string]algorithm.Algorithm // those in use, by name
	panicked   sync.Map                       // by name: the panic of an algorithm in the background
	cancel     context.CancelFunc             // ends the work in the background
	working    sync.WaitGroup

	memory     *memory
	inFlight   atomic.Int64 // requests
	draining   atomic.Bool
	unknownLog rate.Sometimes // for requests to unknown paths
	invalidLog rate.Sometimes // for requests and connections that are the client's mistake
	failedLog  rate.Sometimes // for other requests that get no answer, and certificates
}

// New makes an extender, and starts the work of its algorithms in the background. Call
// Serve or Close after it.
func New(o Options) (*Extender, error) {
	c := o.Config
	e := &Extender{
		Options:    o,
		memory:     newMemory(c.Limits.Buffers.Value()),
		algorithms: make(map[string]algorithm.Algorithm),
		unknownLog: rate.Sometimes{Interval: 10 * time.Second},
		invalidLog: rate.Sometimes{First: 10, Interval: 10 * time.Second},
		failedLog:  rate.Sometimes{First: 100, Interval: time.Second},
	}
	for _, name := range c.InUse() {
		made, err := registered[name](&c.Algorithms, o.Logger.WithValues("algorithm", name))
		if err != nil {
			return nil, fmt.Errorf("algorithms.%s.config: %w", name, err)
		}
		e.algorithms[name] = made
	}
	if c.TLS.Enabled() {
		e.certs.files = c.TLS
		e.certs.failed = func(err error) {
			e.failedLog.Do(func() { o.Logger.Error(err, "The new certificates are invalid, the old ones stay in use") })
		}
		if err := e.certs.load(); err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
	}
	e.metrics = newMetrics(e)
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	for name, one := range e.algorithms {
		if worker, ok := one.(algorithm.Worker); ok {
			e.working.Go(func() { e.work(ctx, name, worker) })
		}
	}
	return e, nil
}

// work runs an algorithm in the background. A panic ends that, and nothing else.
func (e *Extender) work(ctx context.Context, name string, worker algorithm.Worker) {
	defer func() {
		what := recover()
		if what != nil {
			e.panicked.Store(name, what)
			e.countPanic(name, what, "An algorithm panicked in the background and has stopped there")
		}
	}()
	worker.Run(ctx)
}

// countPanic counts and logs a panic of an algorithm. Call it in the deferred function.
func (e *Extender) countPanic(algorithm string, what any, message string, keysAndValues ...any) {
	e.metrics.panics.WithLabelValues(algorithm).Inc()
	e.Logger.Error(fmt.Errorf("panic: %v", what), message, append(keysAndValues, "algorithm", algorithm, "stack", string(debug.Stack()))...)
}

// health returns the health of the algorithms in use, by name.
func (e *Extender) health() map[string]algorithm.Health {
	all := make(map[string]algorithm.Health)
	for name, one := range e.algorithms {
		all[name] = algorithm.Health{OK: true, Detail: "ok"}
		if worker, ok := one.(algorithm.Worker); ok {
			all[name] = worker.Health()
		}
		if what, ok := e.panicked.Load(name); ok {
			all[name] = algorithm.Health{Detail: fmt.Sprint("panicked in the background: ", what)}
		}
	}
	return all
}

// Close ends the work of the algorithms in the background, and waits for its end.
func (e *Extender) Close() {
	e.cancel()
	e.working.Wait()
}
