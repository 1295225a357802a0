package server

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

// Serve answers on l until ctx is done and then shuts down: readiness is off
// and requests are answered for timeouts.unready, then no new connections are
// taken and those that there are get their answers. The error is nil if no
// request was lost. l is closed in any case. Without certificates it is plain
// HTTP.
func (s *Server) Serve(ctx context.Context, l net.Listener, certificates *tls.Config) error {
	limits, times := s.Config.Limits, s.Config.Timeouts
	var traffic traffic
	web := &http.Server{
		Handler:           s.Handler(),
		TLSConfig:         certificates,
		ReadHeaderTimeout: times.Header.Duration,
		ReadTimeout:       times.Read.Duration,
		WriteTimeout:      times.Read.Duration + times.Write.Duration, // it begins with the body
		IdleTimeout:       times.Idle.Duration,
		MaxHeaderBytes:    int(limits.Header.Value()),
		ConnState:         traffic.note,
		ErrorLog:          slog.NewLogLogger(logr.ToSlogHandler(s.Logger), slog.LevelInfo),
	}
	served := make(chan error, 1)
	go func() {
		if certificates != nil {
			served <- web.ServeTLS(l, "", "")
		} else {
			served <- web.Serve(l)
		}
	}()
	s.Logger.Info("Serving", "address", l.Addr().String(), "tls", certificates != nil)
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.Logger.Info("Shutting down: not ready any more", "unready", times.Unready.Duration, "requests", s.inFlight.Load())
	if times.Unready.Duration > 0 {
		<-s.after(times.Unready.Duration)
	}
	s.close(l, &traffic)
	return s.drain(web, &traffic, times.Drain.Duration)
}

// close takes no new connections any more, but those that are already made.
func (s *Server) close(l net.Listener, traffic *traffic) {
	if err := refuseConnections(l); err != nil {
		s.Logger.Info("Shutting down: who has just connected may be cut off", "err", err)
	} else {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 8*quiet)
		defer cancel()
		await(ctx, func() bool { return traffic.noneCame(begun) })
	}
	_ = l.Close()
}

// drain answers those who are still connected, then closes everything.
func (s *Server) drain(web *http.Server, traffic *traffic, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.Logger.Info("Shutting down: waiting for the requests in flight", "drain", limit, "requests", s.inFlight.Load())
	await(ctx, traffic.isQuiet)
	err := web.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		lost := s.inFlight.Load()
		_ = web.Close()
		return fmt.Errorf("%d requests were cut off: they took longer than timeouts.drain, %s", lost, limit)
	}
	if errors.Is(err, net.ErrClosed) {
		err = nil // the listener was, before
	}
	s.Logger.Info("Shut down")
	return err
}
