// Package extender is the scheduler extender as a whole: it takes a
// configuration, makes the algorithms, and serves them until it is stopped.
// cmd/extender runs it as a program; the simulator runs it in-process. It is no API.
//
// Its packages: command (the command line), config (what can be set), server
// (HTTP), wire (the requests and answers), body (their memory), algorithm (what
// it can decide), certs and logging.
package extender

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	_ "wasmkwokwizardry.io/regex-scheduling/extender/algorithm/builtin"
	"wasmkwokwizardry.io/regex-scheduling/extender/certs"
	"wasmkwokwizardry.io/regex-scheduling/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/extender/server"
)

// Options are what an Extender is made of.
type Options struct {
	// Config must be complete: loaded, or completed by its Complete.
	Config *config.Config
	Logger logr.Logger
	// Version is shown to who asks.
	Version string
	// OwnsProcess makes the memory limit of the process, unless GOMEMLIMIT sets
	// it, follow from limits.buffers.
	OwnsProcess bool
}

// An Extender answers a scheduler. Make one with New.
type Extender struct {
	config *config.Config
	logger logr.Logger
	server *server.Server
	certs  certs.Source

	algorithms map[string]algorithm.Algorithm // those in use, by name
	panicked   sync.Map                       // name to what, of those that work in the background
	cancel     context.CancelFunc             // ends that work
	working    sync.WaitGroup
}

// unaccounted is what the runtime may have in memory beside what limits.buffers
// counts: connections, compiled patterns, garbage. Where that gets scarce it
// collects more often.
const unaccounted = 64 << 20

// New makes an extender, with its algorithms at work. Who does not Serve must
// Close.
func New(o Options) (*Extender, error) {
	c := o.Config
	e := &Extender{config: c, logger: o.Logger, algorithms: make(map[string]algorithm.Algorithm)}
	for _, name := range c.InUse() {
		entry := c.Algorithms[name]
		one, err := algorithm.New(entry.Kind, entry.Config, o.Logger.WithName("algorithm").WithName(name))
		if err != nil {
			return nil, fmt.Errorf("algorithms.%s: %w", name, err)
		}
		e.algorithms[name] = one
	}
	if c.TLS.Enabled() {
		if err := e.certs.Load(c.TLS); err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
	}
	e.server = server.New(server.Options{
		Config: c, Logger: o.Logger.WithName("server"), Version: o.Version, CertificateExpiry: e.certs.NotAfter,
		Filter: e.chain(c.Filter), Prioritize: e.chain(c.Prioritize), Health: e.health,
	})
	if o.OwnsProcess && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(c.Limits.Buffers.Value() + unaccounted)
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	for name, one := range e.algorithms {
		if worker, ok := one.(algorithm.Worker); ok {
			e.working.Go(func() { e.work(ctx, name, worker) })
		}
	}
	return e, nil
}

// chain is that of the algorithms with these names.
func (e *Extender) chain(names []string) (links algorithm.Chain) {
	for _, name := range names {
		links = append(links, algorithm.Link{Name: name, Algorithm: e.algorithms[name], Weight: e.config.Algorithms[name].Weight})
	}
	return links
}

// work is that of an algorithm in the background. A panic ends it, and nothing else.
func (e *Extender) work(ctx context.Context, name string, worker algorithm.Worker) {
	defer func() {
		if what := recover(); what != nil {
			e.panicked.Store(name, what)
			e.server.Panicked(name, what, "An algorithm panicked in the background and has stopped there")
		}
	}()
	worker.Run(ctx)
}

// health is that of all algorithms in use, by name.
func (e *Extender) health() map[string]algorithm.Health {
	all := make(map[string]algorithm.Health)
	for name, one := range e.algorithms {
		all[name] = algorithm.Health{OK: true, Detail: "ok"}
		if worker, ok := one.(algorithm.Worker); ok {
			all[name] = worker.Health()
		}
		if what, panicked := e.panicked.Load(name); panicked {
			all[name] = algorithm.Health{Detail: fmt.Sprint("panicked in the background: ", what)}
		}
	}
	return all
}

// Handler answers as Serve does, without limits to time and without TLS.
func (e *Extender) Handler() http.Handler { return e.server.Handler() }

// Serve answers on l until ctx is done, then shuts down gracefully. l need not
// be what the configuration says. Certificates that change are read again. The error
// is nil if no request was lost.
func (e *Extender) Serve(ctx context.Context, l net.Listener) error {
	defer e.Close()
	if e.config.TLS.Enabled() {
		go e.certs.Watch(ctx, e.config.TLS, e.reloaded)
		return e.server.Serve(ctx, l, e.certs.Config())
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		e.logger.Info("Warning: serving without TLS on an address that others can reach; set tls.certFile and tls.keyFile", "address", l.Addr().String())
	}
	return e.server.Serve(ctx, l, nil)
}

// reloaded tells what became of certificates that have changed.
func (e *Extender) reloaded(err error) {
	e.server.CertificatesReloaded(err)
	log := e.logger.WithName("tls")
	if err != nil {
		log.Error(err, "The new certificates are refused, the old ones go on")
		return
	}
	log.Info("New certificates are in use", "expiry", e.certs.NotAfter().UTC().Format(time.RFC3339))
}

// Close ends the work of the algorithms in the background, and waits for that.
func (e *Extender) Close() {
	e.cancel()
	e.working.Wait()
}
