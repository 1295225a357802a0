package api

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// policy allows what the simulator itself serves, and nothing inline.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; " +
	"form-action 'self'; frame-ancestors 'none'"

// Protect puts checks and headers before a handler, so that a web page elsewhere
// can't drive a simulator that runs here: a request must be addressed to this
// machine by a name that nobody else can point at it, and must not be sent by a
// page of another origin.
//
// Loopback's names and addresses are always good, and so are those in hosts. A
// wildcard address in hosts stands for every IP address.
func Protect(next http.Handler, hosts ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		if !isOurs(hostname(r.Host), hosts) {
			refuse(w, http.StatusForbidden, fmt.Sprintf("host %q is not this simulator's: use localhost, or start it with --listen", r.Host))
			return
		}
		if from := foreign(r); from != "" {
			refuse(w, http.StatusForbidden, "the request comes from another site: "+from)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostname is a Host header without the port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// isOurs tells names that lead here from names that someone else can point
// here: whoever owns a name decides, moment by moment, where it leads.
func isOurs(name string, hosts []string) bool {
	if strings.EqualFold(name, "localhost") || slices.Contains(hosts, name) {
		return true
	}
	address, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	return address.IsLoopback() || slices.ContainsFunc(hosts, isWildcard)
}

func isWildcard(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsUnspecified()
}

// foreign returns the other origin that a request comes from, or "". Only
// browsers say where a request comes from; other programs can lie, but need no
// page to do so. Following a link to the page itself is fine from anywhere.
func foreign(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return origin
		}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		!strings.HasPrefix(r.URL.Path, "/api/")
	if (site == "cross-site" || site == "same-site") && !link {
		return site
	}
	return ""
}
