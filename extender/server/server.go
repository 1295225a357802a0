// Package server speaks HTTP for the extender: it receives requests within
// limits, has them answered by the algorithms, isolates
// what goes wrong, and shuts down without losing a request.
//
// It reads no files and knows no algorithm by name; package extender puts it
// together with the rest.
package server

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/body"
	"wasmkwokwizardry.io/regex-scheduling/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/extender/metrics"
)

// Options are what a Server is made of. All are needed.
type Options struct {
	Config             *config.Config
	Filter, Prioritize algorithm.Chain
	// Health is that of the algorithms in use.
	Health func() []metrics.Algorithm
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
	metrics    *metrics.Metrics

	bodies *body.Limits
	// inFlight are all requests; those that have arrived and have no answer yet
	// are answering.
	inFlight, answering atomic.Int64
	turns               turns
	draining            atomic.Bool
	toldOfUnknown       atomic.Int64 // when, in Unix nanoseconds

	// after is time.After, but in tests.
	after func(time.Duration) <-chan time.Time
}

// New returns a server that does not serve yet.
func New(o Options) *Server {
	s := &Server{
		Options: o, nodeLogger: o.Logger.WithName("nodes"), turns: newTurns(), after: time.After,
		bodies: body.NewLimits(o.Config.Limits.Body.Value(), o.Config.Limits.Buffers.Value()),
	}
	s.metrics = metrics.New(metrics.Sources{
		Version:  o.Version,
		InFlight: func() float64 { return float64(s.inFlight.Load()) },
		Buffered: func() float64 { return float64(s.bodies.Used()) },
		CertificateExpiry: func() float64 {
			if expiry := o.CertificateExpiry(); !expiry.IsZero() {
				return float64(expiry.Unix())
			}
			return 0
		},
		Algorithms: o.Health,
	})
	return s
}

// Metrics are the server's, for who has something to count.
func (s *Server) Metrics() *metrics.Metrics { return s.metrics }

// Handler answers everything, whether through Serve or not.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, verb := range []string{filter, prioritize} {
		mux.Handle("POST /"+verb, s.verbHandler(verb))
		mux.HandleFunc("/"+verb, s.refuseMethod)
	}
	mux.Handle("GET /{$}", s.private(s.index))
	mux.Handle("GET /version", s.private(s.versionPage))
	mux.Handle("GET /metrics", s.private(s.metrics.Handler().ServeHTTP))
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("/", s.refusePath)
	return s.lastly(mux)
}

// lastly makes clients leave when the server is about to stop: an answer that
// closes its connection leaves nobody on one that Shutdown would cut.
func (s *Server) lastly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
