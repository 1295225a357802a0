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

// policy lets a page load what its own server serves, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Protect puts checks and headers before a handler, so that another web page
// can't drive a simulator that runs here: a request must be addressed to this
// machine by a name that no other site can point at it, and must not be sent by a
// page of another origin.
//
// Loopback's names and addresses are always good, and so are the hosts. A
// wildcard address in hosts, or an empty one, stands for every IP address.
func Protect(next http.Handler, hosts ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		if !isOurs(hostname(r.Host), hosts) {
			refuse(w, http.StatusForbidden, notOurs(r.Host, hosts))
			return
		}
		from := foreign(r)
		if from != "" {
			refuse(w, http.StatusForbidden, "the request comes from another site: "+from)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// notOurs says under which names the simulator answers, and how it comes to
// answer under the one that was tried.
func notOurs(host string, hosts []string) string {
	use := []string{"localhost"}
	for _, one := range hosts {
		if !isWildcard(one) && !isLoopback(one) {
			use = append(use, one)
		}
	}
	message := fmt.Sprintf("host %q is not this simulator's: use %s", host, strings.Join(use, " or "))
	name := hostname(host)
	if name != "" {
		message += ", or start the simulator with --listen=" + name
	}
	return message
}

// namesFor are the hosts that a server answers to that listens on host, on a
// machine of that name. What others reach, they reach by that name; that it leads
// here is for their resolver to say, and another page cannot take it over.
func namesFor(host, machine string) []string {
	if isLoopback(host) {
		return []string{host}
	}
	names := []string{host}
	machine = strings.ToLower(machine)
	short, _, _ := strings.Cut(machine, ".")
	for _, name := range []string{machine, short, short + ".local"} {
		if short != "" && short != "localhost" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func hostname(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
}

// isOurs reports whether a name leads here and cannot be pointed at another machine: the owner of any
// other name decides, moment by moment, where it leads.
func isOurs(name string, hosts []string) bool {
	same := func(host string) bool { return name != "" && strings.EqualFold(name, host) }
	if isLoopback(name) || slices.ContainsFunc(hosts, same) {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil && slices.ContainsFunc(hosts, isWildcard)
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || strings.EqualFold(host, "localhost")
}

func isWildcard(host string) bool {
	if host == "" {
		return true // to package net
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsUnspecified()
}

// foreign returns the other origin that a request comes from, or "". Only
// browsers say where a request comes from; other programs can lie, but need no
// page to do so. Following a link to the page itself is fine from anywhere.
func foreign(r *http.Request) string {
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	if origin != "" && (err != nil || u.Host != r.Host) {
		return origin
	}
	site := r.Header.Get("Sec-Fetch-Site")
	link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		!strings.HasPrefix(r.URL.Path, "/api/")
	if (site == "cross-site" || site == "same-site") && !link {
		return site
	}
	return ""
}
