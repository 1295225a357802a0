package main

import (
	"errors"
	"net/http"
	"sync/atomic"

	"wasmkwokwizardry.io/regex-scheduling/simulator/api"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page"
)

// servers are open from the first moment: a port that is taken is an error at once,
// and a browser sees the start.
type servers struct {
	page, compat *server
	starting     *page.Starting
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
	s := &servers{starting: page.NewStarting(), end: end}
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
