package extender

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	headerTimeout = 5 * time.Second  // for the header of a request
	writeTimeout  = 30 * time.Second // for algorithm and answer together
	idleTimeout   = 2 * time.Minute  // for a connection between two requests
	maxHeader     = 16 << 10         // bytes of a request's header
)

// Serve serves on l, whatever address the configuration has, until ctx is done, and then
// shuts down: for timeouts.unready it is not ready and answers requests as before, then it
// closes l and idle connections, and answers the requests in flight. It reloads
// certificates that change. The error is nil if all requests in flight were answered.
func (e *Extender) Serve(ctx context.Context, l net.Listener) error {
	defer e.Close()
	times := e.Config.Timeouts
	web := &http.Server{
		Handler:           e.Handler(),
		ReadHeaderTimeout: min(headerTimeout, times.Read.Duration),
		ReadTimeout:       times.Read.Duration,
		WriteTimeout:      times.Read.Duration + writeTimeout, // it begins with the body
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(connectionLog{e}, "", 0),
	}
	if e.Config.TLS.Enabled() {
		l = tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: e.certs.get})
	}
	e.Logger.Info("Serving", "address", l.Addr().String(), "tls", e.Config.TLS.Enabled())
	tcp, ok := l.Addr().(*net.TCPAddr)
	if ok && !tcp.IP.IsLoopback() && !e.Config.TLS.Enabled() {
		e.Logger.Info("Warning: serving without TLS on an address that others can reach; set tls.certFile and tls.keyFile", "address", l.Addr().String())
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	e.draining.Store(true)
	e.Logger.Info("Shutting down: not ready any more", "unready", times.Unready.Duration, "requests", e.inFlight.Load())
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-time.After(times.Unready.Duration):
	}
	limit := times.Drain.Duration
	e.Logger.Info("Shutting down: waiting for the requests in flight", "drain", limit, "requests", e.inFlight.Load())
	draining, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := web.Shutdown(draining)
	if errors.Is(err, context.DeadlineExceeded) {
		cut := e.inFlight.Load()
		_ = web.Close()
		return fmt.Errorf("%d requests were cut off: they took longer than timeouts.drain, %s", cut, limit)
	}
	e.Logger.Info("Shut down")
	return err
}

// connectionLog logs some of what net/http writes of connections, such as failed handshakes.
type connectionLog struct{ *Extender }

func (l connectionLog) Write(line []byte) (int, error) {
	l.invalidLog.Do(func() { l.Logger.Info(strings.TrimSpace(string(line))) })
	return len(line), nil
}

// Running is an extender that Start started.
type Running struct {
	*Extender
	Address string       // host and port
	Stop    func() error // shuts it down; the error is nil if all requests in flight were answered
}

// Start serves on a free port of 127.0.0.1, whatever address the configuration has. The
// default configuration takes the place of a missing one. Stop does not wait for
// timeouts.unready.
func Start(o Options) (*Running, error) {
	c := DefaultConfig()
	if o.Config != nil {
		*c = *o.Config
	} else if err := c.Complete(); err != nil {
		return nil, fmt.Errorf("extender: %w", err)
	}
	c.Timeouts.Unready.Duration = 0
	o.Config = c
	e, err := New(o)
	if err != nil {
		return nil, fmt.Errorf("extender: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.Close()
		return nil, fmt.Errorf("extender: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx, l) }()
	stop := sync.OnceValue(func() error { cancel(); return <-ended })
	return &Running{Extender: e, Address: l.Addr().String(), Stop: stop}, nil
}
