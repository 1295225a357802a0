package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
)

// policy lets a page load what its own server serves, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect puts checks and headers before a handler, so that another web page
// can't drive a simulator that runs here: a request must be addressed to this
// machine by a name that no other site can point at it, and a page of another origin
// can neither change anything nor read an answer.
func protect(next http.Handler, names ...string) http.Handler {
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusForbidden, "the request comes from another site")
	}))
	sameOrigin := origins.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		host := strings.TrimSuffix((&url.URL{Host: r.Host}).Hostname(), ".")
		if !isOurs(host, names) {
			refuse(w, http.StatusForbidden, fmt.Sprintf("host %q is not this simulator's: use localhost, or start the simulator with --listen=%s", r.Host, host))
			return
		}
		sameOrigin.ServeHTTP(w, r)
	})
}

// isOurs reports whether a host leads here and cannot be pointed at another machine: an address, or one of
// the names. The owner of any other name decides, moment by moment, where it leads.
func isOurs(host string, names []string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || host != "" && slices.Contains(names, strings.ToLower(host))
}

// machineNames are the names by which others reach this machine. That they lead here is for
// their resolver to say, and another page cannot take them over.
func machineNames() []string {
	name, _ := os.Hostname() // without one its addresses have to do
	name = strings.ToLower(name)
	short, _, _ := strings.Cut(name, ".")
	return []string{name, short, short + ".local"}
}
