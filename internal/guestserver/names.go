package guestserver

import (
	"context"
	"net"
	"net/http"
	"net/url"
)

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
