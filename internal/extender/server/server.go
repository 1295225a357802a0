// Package server speaks HTTP for the extender: it receives requests within
// limits, has them answered by the algorithms of the current Setup, isolates
// what goes wrong, and shuts down without losing a request.
//
// It reads no files and knows no algorithm by name; package extender puts it
// together with the rest.
package server

import (
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/body"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/metrics"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/wire"
)

// A Server answers kube-scheduler. Make one with New, then Use a Setup.
type Server struct {
	logger  logr.Logger
	version string
	metrics *metrics.Metrics

	setup  atomic.Pointer[Setup]
	bodies body.Limits
	// inFlight are all requests; those that have arrived and have no answer yet
	// are answering.
	inFlight, answering atomic.Int64
	readers             chan struct{} // one for each processor
	draining            atomic.Bool
	toldOfUnknown       atomic.Int64 // when, in Unix nanoseconds

	// after is time.After, but in tests.
	after func(time.Duration) <-chan time.Time
}

// A Setup is what can change while the server runs. It does not change itself.
type Setup struct {
	Filter, Prioritize algorithm.Chain
	// Mode is for people. Misfit says why a form of request is not answered,
	// or nothing if it is.
	Mode   string
	Misfit func(wire.Form) string
	// Reporters are the algorithms that report their health.
	Reporters func() []metrics.Algorithm
	// ClientCertificates makes clients show one.
	ClientCertificates bool

	// Requests is how many may have arrived and have no answer yet; BodyBytes
	// and BufferBytes are the limits of package body.
	Requests               int64
	BodyBytes, BufferBytes int64
}

// Options are what a Server is made of.
type Options struct {
	Logger  logr.Logger
	Version string
	// CertificateExpiry is for the metrics; nil without TLS.
	CertificateExpiry func() time.Time
}

// New returns a server that has no Setup yet.
func New(o Options) *Server {
	s := &Server{logger: o.Logger, version: o.Version, readers: make(chan struct{}, runtime.GOMAXPROCS(0)), after: time.After}
	s.metrics = metrics.New(metrics.Sources{
		Version:  o.Version,
		InFlight: func() float64 { return float64(s.inFlight.Load()) },
		Buffered: func() float64 { return float64(s.bodies.Used()) },
		CertificateExpiry: func() float64 {
			if o.CertificateExpiry == nil || o.CertificateExpiry().IsZero() {
				return 0
			}
			return float64(o.CertificateExpiry().Unix())
		},
		Algorithms: func() []metrics.Algorithm { return s.setup.Load().Reporters() },
	})
	return s
}

// Metrics are the server's, for who has something to count.
func (s *Server) Metrics() *metrics.Metrics { return s.metrics }

// Use makes a setup the current one. Requests in flight keep the one they
// began with.
func (s *Server) Use(setup *Setup) {
	s.bodies.Set(setup.BodyBytes, setup.BufferBytes)
	s.setup.Store(setup)
}

// Handler answers everything, whether through Serve or not.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, v := range []*verb{&filter, &prioritize} {
		mux.Handle("POST /"+v.name, s.verbHandler(v))
		mux.HandleFunc("/"+v.name, s.refuseMethod)
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
