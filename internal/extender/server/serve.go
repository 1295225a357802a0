package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
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
// and requests are answered for Unready, then no new ones are taken and those
// in flight are waited for. The error is nil if none of them was lost. l is
// closed in any case.
func (s *Server) Serve(ctx context.Context, l net.Listener, o Serving) error {
	web := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: o.Header,
		ReadTimeout:       o.Read,
		WriteTimeout:      o.Read + o.Write, // it begins with the body
		IdleTimeout:       o.Idle,
		MaxHeaderBytes:    o.HeaderBytes,
		ConnContext:       withConn,
		ErrorLog:          errorLog(s.logger),
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(&listener{Listener: l, tls: o.TLS, logger: s.logger}) }()
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
	return s.drain(web, o.Drain)
}

func (s *Server) drain(web *http.Server, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.logger.Info("Shutting down: waiting for the requests in flight", "drain", limit, "requests", s.inFlight.Load())
	err := web.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		lost := s.inFlight.Load()
		_ = web.Close()
		return fmt.Errorf("%d requests were cut off: they took longer than timeouts.drain, %s", lost, limit)
	}
	s.logger.Info("Shut down")
	return err
}
