package extender

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// headerTimeout is how long the header of a request may take.
	headerTimeout = 5 * time.Second
	// writeTimeout is for algorithm and answer together.
	writeTimeout = 30 * time.Second
	// idleTimeout is how long a connection without a request is kept.
	idleTimeout = 2 * time.Minute
	// quiet is how long nothing must have happened on any connection until they
	// are closed. A request that comes on an idle one at that moment would be lost;
	// who was quiet for so long sends none in the same microseconds, but by chance.
	quiet = 250 * time.Millisecond
)

// serve answers on l until ctx is done and then shuts down: readiness is off
// and requests are answered for timeouts.unready, then no new connections are
// taken and those that there are get their answers. The error is nil if no
// request was lost. l is closed in any case. Without certificates it is plain
// HTTP.
func (e *Extender) serve(ctx context.Context, l net.Listener, certificates *tls.Config) error {
	times := e.Config.Timeouts
	var traffic traffic
	web := &http.Server{
		Handler:           e.Handler(),
		TLSConfig:         certificates,
		ReadHeaderTimeout: min(headerTimeout, times.Read.Duration),
		ReadTimeout:       times.Read.Duration,
		WriteTimeout:      times.Read.Duration + writeTimeout, // it begins with the body
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    int(e.Config.Limits.Header.Value()),
		ConnState:         traffic.note,
		ErrorLog:          slog.NewLogLogger(logr.ToSlogHandler(e.logger), slog.LevelInfo),
	}
	served := make(chan error, 1)
	go func() {
		if certificates != nil {
			served <- web.ServeTLS(l, "", "")
		} else {
			served <- web.Serve(l)
		}
	}()
	e.logger.Info("Serving", "address", l.Addr().String(), "tls", certificates != nil)
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	e.draining.Store(true)
	e.logger.Info("Shutting down: not ready any more", "unready", times.Unready.Duration, "requests", e.inFlight.Load())
	<-e.after(times.Unready.Duration)
	return e.drain(web, l, &traffic)
}

// drain takes no new connections any more, answers those who are connected, then
// closes everything.
func (e *Extender) drain(web *http.Server, l net.Listener, traffic *traffic) error {
	limit := e.Config.Timeouts.Drain.Duration
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	e.logger.Info("Shutting down: waiting for the requests in flight", "drain", limit, "requests", e.inFlight.Load())
	if err := refuseConnections(l); err != nil {
		e.logger.Info("Shutting down: who has just connected may be cut off", "err", err)
		_ = l.Close()
	}
	traffic.note(nil, http.StateIdle) // who connected just before is accepted from now on
	_ = wait.PollUntilContextCancel(ctx, quiet/25, true, func(context.Context) (bool, error) { return traffic.isQuiet(), nil })
	err := web.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		lost := e.inFlight.Load()
		_ = web.Close()
		return fmt.Errorf("%d requests were cut off: they took longer than timeouts.drain, %s", lost, limit)
	}
	if errors.Is(err, net.ErrClosed) {
		err = nil // the listener was, before
	}
	e.logger.Info("Shut down")
	return err
}

// traffic knows of every connection whether there is, or may be, a request on
// it. The zero value is that of a server without connections.
type traffic struct {
	mu   sync.Mutex
	busy map[net.Conn]struct{}
	last time.Time // that something happened
}

// note is http.Server.ConnState. A connection is busy from the start: who has
// connected is about to send.
func (t *traffic) note(c net.Conn, state http.ConnState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = time.Now()
	if state != http.StateNew && state != http.StateActive {
		delete(t.busy, c)
		return
	}
	if t.busy == nil {
		t.busy = make(map[net.Conn]struct{})
	}
	t.busy[c] = struct{}{}
}

func (t *traffic) isQuiet() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.busy) == 0 && time.Since(t.last) >= quiet
}
