package extender

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
)

const (
	// headerTimeout is how long the header of a request may take.
	headerTimeout = 5 * time.Second
	// writeTimeout is for algorithm and answer together.
	writeTimeout = 30 * time.Second
	// idleTimeout is how long a connection without a request is kept.
	idleTimeout = 2 * time.Minute
	// lull is how long there is between the last new connection and the end of idle
	// ones. Connections that have begun are made meanwhile, and who keeps one busy
	// sends once more on it, and is told that it closes. Later, a request that is sent
	// as it is closed is lost.
	lull = 250 * time.Millisecond
	// drainTick is how often drain looks whether somebody is connected.
	drainTick = 10 * time.Millisecond
)

// serve answers on l until ctx is done and then shuts down: readiness is off
// and requests are answered for timeouts.unready, then no new connections are
// taken and those that there are get their answers. The error is nil if no
// request was lost. l is closed in any case. Without certificates it is plain
// HTTP.
func (e *Extender) serve(ctx context.Context, l net.Listener, certificates *tls.Config) error {
	times := e.Config.Timeouts
	all := &connections{Listener: l, open: make(map[*connection]struct{})}
	web := &http.Server{
		Handler:           e.Handler(),
		ConnState:         all.state,
		TLSConfig:         certificates,
		ReadHeaderTimeout: min(headerTimeout, times.Read.Duration),
		ReadTimeout:       times.Read.Duration,
		WriteTimeout:      times.Read.Duration + writeTimeout, // it begins with the body
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    int(e.Config.Limits.Header.Value()),
		ErrorLog:          slog.NewLogLogger(logr.ToSlogHandler(e.Logger), slog.LevelInfo),
	}
	served := make(chan error, 1)
	go func() {
		if certificates != nil {
			served <- web.ServeTLS(all, "", "")
		} else {
			served <- web.Serve(all)
		}
	}()
	e.Logger.Info("Serving", "address", l.Addr().String(), "tls", certificates != nil)
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	e.draining.Store(true)
	e.Logger.Info("Shutting down: not ready any more", "unready", times.Unready.Duration, "requests", e.inFlight.Load())
	<-e.after(times.Unready.Duration)
	return e.drain(web, all)
}

// drain takes no new connections any more, answers those who are connected, then
// closes everything.
func (e *Extender) drain(web *http.Server, all *connections) error {
	limit := e.Config.Timeouts.Drain.Duration
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	e.Logger.Info("Shutting down: waiting for the requests in flight", "drain", limit, "requests", e.inFlight.Load())
	if err := refuseConnections(all.Listener); err != nil {
		e.Logger.Info("Shutting down: who has just connected may be cut off", "err", err)
		_ = all.Close()
	}
	wait(ctx, lull)
	for began := time.Now(); ctx.Err() == nil && !all.none(); wait(ctx, drainTick) {
		if time.Since(began) >= e.idle {
			all.endIdle()
		}
	}
	err := web.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		lost := e.inFlight.Load()
		_ = web.Close()
		return fmt.Errorf("%d requests were cut off: they took longer than timeouts.drain, %s", lost, limit)
	}
	if errors.Is(err, net.ErrClosed) {
		err = nil // the listener was, before
	}
	e.Logger.Info("Shut down")
	return err
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
