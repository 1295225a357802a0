package main

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"wasmkwokwizardry.io/regex-scheduling/internal/api"
)

// servers are open from the first moment, so that a port that is taken is told
// at once, and a browser sees the start.
type servers struct {
	page, compat *server
	starting     *starting
	end          func() // of the process
}

// server is one whose handler comes later.
type server struct {
	*api.Server
	handler atomic.Pointer[http.Handler]
}

func (s *server) set(handler http.Handler) { s.handler.Store(&handler) }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*s.handler.Load()).ServeHTTP(w, r)
}

func listen(o *options, end func()) (*servers, error) {
	s := &servers{starting: &starting{}, end: end}
	var err error
	if s.page, err = listenOne(o.listen, o.port, "--port", s.starting); err != nil {
		return nil, err
	}
	if s.compat, err = listenOne(o.listen, o.compatPort, "--compat-port", s.starting); err != nil {
		return nil, errors.Join(err, s.page.Stop())
	}
	return s, nil
}

func listenOne(host string, port int, flag string, first http.Handler) (*server, error) {
	s := &server{}
	s.set(first)
	var err error
	s.Server, err = api.Listen(host, port, flag, s)
	return s, err
}

func (s *servers) stop() error { return errors.Join(s.page.Stop(), s.compat.Stop()) }

// starting shows how far the start has come.
type starting struct {
	mu    sync.Mutex
	steps []string
}

func (s *starting) say(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, html.EscapeString(step))
}

func (s *starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Cache-Control", "no-store")
	if strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, `{"message":"the simulator is starting"}`)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta http-equiv="refresh" content="1"><title>Starting</title>
<h1>The simulator is starting</h1><pre>%s</pre></html>
`, strings.Join(s.steps, "\n"))
}
