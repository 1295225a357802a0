// Package guestserver serves the built guests over HTTP, plainly, and nothing
// else: to the schedulers of a cluster, as the command static-webserver, and to
// the one of the simulator, in its process.
package guestserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/static"
)

// Server serves the files of package static.
type Server struct {
	http     *http.Server
	listener net.Listener
	failed   chan error
}

// Start listens on an address, host and port. Port 0 is any that is free.
func Start(address string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, failed: make(chan error, 1), http: &http.Server{
		Handler:           Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    8 << 10,
	}}
	go func() { s.failed <- s.http.Serve(listener) }()
	return s, nil
}

// Handler answers GET and HEAD for the files of package static, and /healthz.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(static.Files))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// Address is host and port to connect to.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Failed gets the error that ends the server, which is none after Stop.
func (s *Server) Failed() <-chan error { return s.failed }

// Stop ends the server. Transfers in flight have as long as patience is.
func (s *Server) Stop(patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("transfers were cut after %s: %w", patience, err), s.http.Close())
	}
	return nil
}

// Close ends the server and its connections at once.
func (s *Server) Close() error { return s.http.Close() }
