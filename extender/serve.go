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
	headerTimeout = 5 * time.Second  // for the header of a request
	writeTimeout  = 30 * time.Second // for algorithm and answer together
	idleTimeout   = 2 * time.Minute  // for a connection between two requests
	// lull is the time between the last new connection and the end of idle ones.
	// Meanwhile connections that have begun are made, and a busy client sends another
	// request, whose answer says that the connection closes.
	lull      = 250 * time.Millisecond
	drainTick = 10 * time.Millisecond // how often drain looks for connections
)

// serve serves on l, without certificates plain HTTP, until ctx is done, and then shuts
// down: for timeouts.unready it is not ready and answers requests as before, then it
// refuses new connections and answers the requests on the others. It closes l. The error
// is nil if no request was lost.
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

// drain refuses new connections, answers the requests on the others, and then closes
// everything.
func (e *Extender) drain(web *http.Server, all *connections) error {
	limit := e.Config.Timeouts.Drain.Duration
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	e.Logger.Info("Shutting down: waiting for the requests in flight", "drain", limit, "requests", e.inFlight.Load())
	if err := refuseConnections(all.Listener); err != nil {
		e.Logger.Info("Shutting down: connections that are not accepted yet may be cut off", "err", err)
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
