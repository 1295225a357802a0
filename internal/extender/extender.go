// Package extender is the scheduler extender as a whole: it takes a
// configuration, makes the algorithms, and serves them until it is told to
// stop. cmd/extender runs it as a program; the simulator runs it in-process.
//
// The rooms: command (the command line), config (what it can be told), server
// (HTTP), wire (the requests and answers), body (their memory), algorithm (what
// it can decide), certs, logging and metrics.
package extender

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"

	"github.com/go-logr/logr"

	_ "wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm/builtin"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/certs"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/logging"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/metrics"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/server"
)

// Options are what an Extender is made of.
type Options struct {
	// Config must be complete: loaded, or completed by its Complete.
	Config *config.Config
	Logger logr.Logger
	// Levels are set from the Config if they are not nil. They should be the
	// Logger's.
	Levels *logging.Levels
	// Version is shown to who asks.
	Version string
	// OwnsProcess makes the memory limit of the process, unless GOMEMLIMIT sets
	// it, follow from limits.buffers.
	OwnsProcess bool
}

// An Extender answers a scheduler. Make one with New.
type Extender struct {
	logger      logr.Logger
	levels      *logging.Levels
	ownsProcess bool
	server      *server.Server
	certs       certs.Source

	mu      sync.Mutex // of Reload
	current *algorithms
}

// New makes an extender, with its algorithms at work. Who does not Serve must
// Close.
func New(o Options) (*Extender, error) {
	e := &Extender{logger: o.Logger, levels: o.Levels, ownsProcess: o.OwnsProcess && os.Getenv("GOMEMLIMIT") == ""}
	e.server = server.New(o.Logger.WithName("server"), o.Version, e.certs.NotAfter)
	if err := e.use(o.Config); err != nil {
		return nil, err
	}
	return e, nil
}

// Config is the current configuration. It must not be changed.
func (e *Extender) Config() *config.Config {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current.config
}

// Handler answers as Serve does, without limits to time and without TLS.
func (e *Extender) Handler() http.Handler { return e.server.Handler() }

// Serve answers on l until ctx is done, then shuts down gracefully. l need not
// be what the configuration says. The error is nil if no request was lost.
func (e *Extender) Serve(ctx context.Context, l net.Listener) error {
	defer e.Close()
	c := e.Config()
	if c.TLS.Enabled() {
		return e.server.Serve(ctx, l, e.certs.Config())
	}
	if !isLoopback(l.Addr()) {
		e.logger.Info("Warning: serving without TLS on an address that others can reach; set tls.certFile and tls.keyFile", "address", l.Addr().String())
	}
	return e.server.Serve(ctx, l, nil)
}

func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// Close ends the work of the algorithms in the background.
func (e *Extender) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.current.stop()
}

// Reload goes on with another configuration, or, on an error, with the old one
// as if nothing had happened. Requests in flight end as they began.
func (e *Extender) Reload(next *config.Config) error {
	err := e.Config().Fixed(next)
	if err == nil {
		err = e.use(next)
	}
	e.server.Metrics().Reload(metrics.ReloadConfig, err)
	return err
}

// CountRefusedConfig counts a configuration that could not even be loaded.
func (e *Extender) CountRefusedConfig(err error) {
	e.server.Metrics().Reload(metrics.ReloadConfig, err)
}

// ReloadCertificates reads the certificate files again. On an error the old
// certificates stay.
func (e *Extender) ReloadCertificates() error {
	err := e.certs.Load(e.Config().TLS)
	e.server.Metrics().Reload(metrics.ReloadCertificate, err)
	return err
}

// use makes c the current configuration, or nothing at all.
func (e *Extender) use(c *config.Config) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	next, err := newAlgorithms(c, e.logger)
	if err != nil {
		return err
	}
	if c.TLS.Enabled() {
		if err := e.certs.Load(c.TLS); err != nil {
			return fmt.Errorf("tls: %w", err)
		}
	}
	next.start(e.current, e.panicked)
	e.server.Use(&server.Setup{Config: c, Filter: next.chain(c.Filter), Prioritize: next.chain(c.Prioritize), Health: next.health})
	if e.levels != nil {
		e.levels.Set(c.Loggers)
	}
	if e.ownsProcess {
		debug.SetMemoryLimit(c.Limits.Buffers.Value() + besides)
	}
	if e.current != nil {
		e.current.stop()
	}
	e.current = next
	return nil
}

func (e *Extender) panicked(name string, what any, stack []byte) {
	e.server.Metrics().Panic(name)
	e.logger.Error(fmt.Errorf("panic: %v", what), "An algorithm panicked in the background and has stopped there", "algorithm", name, "stack", string(stack))
}

// besides is what the runtime may have in memory beside what limits.buffers
// counts: connections, compiled patterns, garbage. Where that gets scarce it
// collects more often.
const besides = 64 << 20
