// Package server speaks HTTP for the extender: it receives requests within
// limits, has them answered by the algorithms, isolates
// what goes wrong, and shuts down without losing a request. It is no API.
//
// It reads no files and knows no algorithm by name; package extender puts it
// together with the rest.
package server

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/time/rate"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/body"
	"wasmkwokwizardry.io/regex-scheduling/extender/config"
)

// Options are what a Server is made of. All are needed.
type Options struct {
	Config             *config.Config
	Filter, Prioritize algorithm.Chain
	// Health is that of the algorithms in use, by name.
	Health func() map[string]algorithm.Health
	Logger logr.Logger
	// Version is shown to who asks.
	Version string
	// CertificateExpiry is when the certificate expires, the zero time without one.
	CertificateExpiry func() time.Time
}

// A Server answers kube-scheduler. Make one with New.
type Server struct {
	Options
	nodeLogger logr.Logger
	metrics    *metrics

	bodies *body.Limits
	// inFlight are all requests; those that have arrived and have no answer yet
	// are answering.
	inFlight, answering atomic.Int64
	turns               turns
	draining            atomic.Bool
	unknownLog          rate.Sometimes // about requests for what is not there

	// after is time.After, but in tests.
	after func(time.Duration) <-chan time.Time
}

// New returns a server that does not serve yet.
func New(o Options) *Server {
	s := &Server{
		Options: o, nodeLogger: o.Logger.WithName("nodes"), turns: newTurns(), after: time.After,
		unknownLog: rate.Sometimes{Interval: 10 * time.Second},
		bodies: body.NewLimits(o.Config.Limits.Body.Value(), o.Config.Limits.Buffers.Value()),
	}
	s.metrics = newMetrics(s)
	return s
}

// Panicked counts and logs a panic of an algorithm. It must be called while that
// unwinds.
func (s *Server) Panicked(algorithm string, what any, message string, keysAndValues ...any) {
	s.metrics.panics.WithLabelValues(algorithm).Inc()
	s.Logger.Error(fmt.Errorf("panic: %v", what), message, append(keysAndValues, "algorithm", algorithm, "stack", string(debug.Stack()))...)
}

// CertificatesReloaded counts that certificates were read again: with an error
// the old ones go on.
func (s *Server) CertificatesReloaded(err error) {
	result := "success"
	if err != nil {
		result = "refused"
	}
	s.metrics.reloads.WithLabelValues(result).Inc()
}

// Handler answers everything, whether through Serve or not.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for verb, chain := range map[string]algorithm.Chain{filter: s.Filter, prioritize: s.Prioritize} {
		mux.Handle("POST /"+verb, s.verbHandler(verb, chain))
		mux.HandleFunc("/"+verb, s.refuseMethod)
	}
	mux.Handle("GET /{$}", s.private(s.index))
	mux.Handle("GET /version", s.private(s.versionPage))
	mux.Handle("GET /metrics", s.private(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("/", s.refusePath)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() { // so that nobody is left on a connection that Shutdown would cut
			w.Header().Set("Connection", "close")
		}
		mux.ServeHTTP(w, r)
	})
}

// private pages need a client certificate if the verbs do. The probes do not:
// a kubelet has none to show.
func (s *Server) private(page http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.lacksCertificate(r) {
			writeRefusal(w, errNoCertificate)
			return
		}
		page(w, r)
	})
}

// lacksCertificate reports whether a request lacks the certificate that it needs.
func (s *Server) lacksCertificate(r *http.Request) bool {
	return s.Config.TLS.ClientCAFile != "" && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0)
}

func (s *Server) index(w http.ResponseWriter, _ *http.Request) {
	writeText(w, http.StatusOK, fmt.Sprintf("regex-scheduling extender %s for kube-scheduler, filter: %s, prioritize: %s\n",
		s.Version, s.Filter, s.Prioritize))
}

func (s *Server) versionPage(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{
		"version": s.Version, "goVersion": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
	})
}

// readyz is ready from the first request to the order to stop. It tells of
// algorithms that are unwell, but these answer, so they do not make it unready.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		writeText(w, http.StatusServiceUnavailable, "shutting down\n")
		return
	}
	page, health := "ok\n", s.Health()
	for _, name := range slices.Sorted(maps.Keys(health)) {
		sign := "+"
		if !health[name].OK {
			sign = "-"
		}
		page += fmt.Sprintf("[%s] %s: %s\n", sign, name, health[name].Detail)
	}
	writeText(w, http.StatusOK, page)
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
