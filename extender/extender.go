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
	"time"

	"github.com/go-logr/logr"

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
	config     *config.Config
	logger     logr.Logger
	server     *server.Server
	certs      certs.Source
	algorithms *algorithms
}

// New makes an extender, with its algorithms at work. Who does not Serve must
// Close.
func New(o Options) (*Extender, error) {
	c := o.Config
	all, err := newAlgorithms(c, o.Logger)
	if err != nil {
		return nil, err
	}
	e := &Extender{config: c, logger: o.Logger, algorithms: all}
	if c.TLS.Enabled() {
		if err := e.certs.Load(c.TLS); err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
	}
	e.server = server.New(server.Options{
		Config: c, Logger: o.Logger.WithName("server"), Version: o.Version, CertificateExpiry: e.certs.NotAfter,
		Filter: all.chain(c.Filter), Prioritize: all.chain(c.Prioritize), Health: all.health,
	})
	if o.OwnsProcess && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(c.Limits.Buffers.Value() + besides)
	}
	all.start(e.panicked)
	return e, nil
}

// Config is the configuration. It must not be changed.
func (e *Extender) Config() *config.Config { return e.config }

// Handler answers as Serve does, without limits to time and without TLS.
func (e *Extender) Handler() http.Handler { return e.server.Handler() }

// Serve answers on l until ctx is done, then shuts down gracefully. l need not
// be what the configuration says. Certificates that change are read again. The error
// is nil if no request was lost.
func (e *Extender) Serve(ctx context.Context, l net.Listener) error {
	defer e.Close()
	if e.config.TLS.Enabled() {
		go e.certs.Watch(ctx, e.config.TLS, e.renewed)
		return e.server.Serve(ctx, l, e.certs.Config())
	}
	if !isLoopback(l.Addr()) {
		e.logger.Info("Warning: serving without TLS on an address that others can reach; set tls.certFile and tls.keyFile", "address", l.Addr().String())
	}
	return e.server.Serve(ctx, l, nil)
}

// renewed tells what became of certificates that have changed.
func (e *Extender) renewed(err error) {
	e.server.Metrics().CertificateReload(err)
	log := e.logger.WithName("tls")
	if err != nil {
		log.Error(err, "The new certificates are refused, the old ones go on")
		return
	}
	log.Info("New certificates are in use", "expiry", e.certs.NotAfter().UTC().Format(time.RFC3339))
}

func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// Close ends the work of the algorithms in the background.
func (e *Extender) Close() { e.algorithms.stop() }

func (e *Extender) panicked(name string, what any, stack []byte) {
	e.server.Metrics().Panic(name)
	e.logger.Error(fmt.Errorf("panic: %v", what), "An algorithm panicked in the background and has stopped there", "algorithm", name, "stack", string(stack))
}

// besides is what the runtime may have in memory beside what limits.buffers
// counts: connections, compiled patterns, garbage. Where that gets scarce it
// collects more often.
const besides = 64 << 20
