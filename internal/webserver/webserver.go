// Package webserver serves the built guests over HTTP, as the static web server
// of a cluster would, and lets this process reach servers of its own under the
// names that they have in a cluster.
//
// It is for one machine: it listens on loopback only.
package webserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/guestserver"
)

// Server serves the files of package static.
type Server struct {
	http     *http.Server
	listener net.Listener
	done     chan error
}

// Start listens on a port of 127.0.0.1, any free one if port is 0.
func Start(port int) (*Server, error) {
	address := net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("web server: %w", err)
	}
	s := &Server{
		http:     &http.Server{Handler: guestserver.Handler(), ReadHeaderTimeout: 10 * time.Second},
		listener: listener,
		done:     make(chan error, 1),
	}
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

// Address is host and port to connect to.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Stop ends the server and all its connections, and waits until it has.
func (s *Server) Stop() error {
	err := s.http.Close()
	<-s.done
	return err
}

// Names is a transport on which some host names lead to addresses inside this
// process: "static-webserver" to "127.0.0.1:1234". The network is never asked
// for those. Everything else goes where it always goes.
func Names(names map[string]string) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil && names[host] != "" {
			address = names[host]
		}
		return dial(ctx, network, address)
	}
	proxy := transport.Proxy
	transport.Proxy = func(r *http.Request) (*url.URL, error) {
		if names[r.URL.Hostname()] != "" {
			return nil, nil
		}
		return proxy(r)
	}
	return transport
}
