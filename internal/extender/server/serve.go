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

// Serving is how a Server serves. All times must be set but Unready.
type Serving struct {
	// TLS is nil for plain HTTP.
	TLS *tls.Config
	// Times as in package config.
	Header, Read, Write, Idle, Unready, Drain time.Duration
	// HeaderBytes is the largest header of a request.
	HeaderBytes int
}

// Serve answers on l until ctx is done and then shuts down: readiness is off
// and requests are answered for Unready, then no new connections are taken and
// those that there are get their answers. The error is nil if no request was
// lost. l is closed in any case.
func (s *Server) Serve(ctx context.Context, l net.Listener, o Serving) error {
	var traffic traffic
	web := &http.Server{
		Handler:           s.Handler(),
		TLSConfig:         o.TLS,
		ReadHeaderTimeout: o.Header,
		ReadTimeout:       o.Read,
		WriteTimeout:      o.Read + o.Write, // it begins with the body
		IdleTimeout:       o.Idle,
		MaxHeaderBytes:    o.HeaderBytes,
		ConnState:         traffic.note,
		ErrorLog:          slog.NewLogLogger(logr.ToSlogHandler(s.logger), slog.LevelInfo),
	}
	served := make(chan error, 1)
	go func() {
		if o.TLS != nil {
			served <- web.ServeTLS(l, "", "")
		} else {
			served <- web.Serve(l)
		}
	}()
	s.logger.Info("Serving", "address", l.Addr().String(), "tls", o.TLS != nil)
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.logger.Info("Shutting down: not ready any more", "unready", o.Unready, "requests", s.inFlight.Load())
	if o.Unready > 0 {
		<-s.after(o.Unready)
	}
	s.close(l, &traffic)
	return s.drain(web, &traffic, o.Drain)
}

// close takes no new connections any more, but those that are already made.
func (s *Server) close(l net.Listener, traffic *traffic) {
	if err := closeDoor(l); err != nil {
		s.logger.Info("Shutting down: who has just connected may be cut off", "err", err)
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
	s.logger.Info("Shutting down: waiting for the requests in flight", "drain", limit, "requests", s.inFlight.Load())
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
	s.logger.Info("Shut down")
	return err
}
