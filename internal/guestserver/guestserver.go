// Package guestserver serves the built guests over HTTP, plainly, and nothing
// else: to the schedulers of a cluster, as the command static-webserver, and to
// the simulator's, in its process.
package guestserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/static"
)

// Start listens on an address, host and port, of which 0 is any that is free, and serves.
// The server's Addr is where. ended gets the error that ends it.
func Start(address string) (server *http.Server, ended <-chan error, err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	server = &http.Server{
		Addr:              listener.Addr().String(),
		Handler:           Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    8 << 10,
	}
	end := make(chan error, 1)
	go func() { end <- server.Serve(listener) }()
	return server, end, nil
}

// Handler answers GET and HEAD for the files of package static, /healthz, and /metrics, which has none: that a
// scrape succeeds is what Prometheus gets to know.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(static.Files))
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// Names is a transport on which some host names lead to servers of this process,
// as they do in a cluster: "static-webserver" to "127.0.0.1:1234". The network is
// never asked for those. Everything else goes where it always goes.
func Names(names map[string]string) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err == nil && names[host] != "" {
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
