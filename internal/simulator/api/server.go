package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Server serves a handler on a port.
type Server struct {
	http     http.Server
	listener net.Listener
	handler  atomic.Pointer[http.Handler]
}

// Listen serves a handler, behind protect. flag is the one that changes the
// port, for the error when the port is taken.
func Listen(host string, port int, flag string, handler http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, PortTaken(port, flag)
	}
	if err != nil {
		return nil, fmt.Errorf("open port %d (%s): %w", port, flag, err)
	}
	s := &Server{listener: listener}
	s.Handle(handler)
	names := []string{"localhost", strings.ToLower(host)}
	if s.Public() {
		names = append(names, machineNames()...)
	}
	current := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.handler.Load()).ServeHTTP(w, r) })
	s.http = http.Server{
		Handler:           protect(current, names...),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       5 * time.Minute, // a large import
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		// No WriteTimeout: streams stay open.
	}
	go func() { _ = s.http.Serve(listener) }() // until Stop
	return s, nil
}

// Handle gives later requests to another handler.
func (s *Server) Handle(handler http.Handler) { s.handler.Store(&handler) }

// PortTaken is the error for a port that another program listens on, which flag
// changes.
func PortTaken(port int, flag string) error {
	return fmt.Errorf("port %d is taken by another program: stop it, or choose another port with %s (0 is any free one)", port, flag)
}

// Public is true if others than this machine can connect.
func (s *Server) Public() bool { return !s.listener.Addr().(*net.TCPAddr).IP.IsLoopback() }

// Port is the one it listens on.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// URL is where a browser on this machine finds it.
func (s *Server) URL() string {
	host := s.listener.Addr().(*net.TCPAddr).IP
	if host.IsUnspecified() || host.IsLoopback() {
		return fmt.Sprintf("http://localhost:%d", s.Port())
	}
	return "http://" + s.listener.Addr().String()
}

// drainTime is what requests get at the end. Streams never finish by themselves.
const drainTime = 500 * time.Millisecond

// Stop ends the server.
func (s *Server) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
}

// status is an error with a status other than 500.
type status struct {
	code int
	error
}

func (s status) Unwrap() error { return s.error }

// fail answers with an error. As in kube-scheduler-simulator, whatever has no
// status of its own is a 500; unlike there, the answer says what went wrong.
func fail(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	var own status
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		code = http.StatusRequestEntityTooLarge
	case errors.As(err, &own):
		code = own.code
	}
	refuse(w, code, err.Error())
}

func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

func writeJSON(w http.ResponseWriter, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return write(w, "application/json", body)
}

// write answers with a body. That the client has gone is no error of ours.
func write(w http.ResponseWriter, contentType string, body []byte) error {
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(body)
	return nil
}
