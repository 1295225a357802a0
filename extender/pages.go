package extender

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves the verbs and the pages. Serve uses it.
func (e *Extender) Handler() http.Handler {
	mux := http.NewServeMux()
	for verb, name := range map[string]string{filter: e.Config.Filter, preempt: e.Config.Filter, prioritize: e.Config.Prioritize} {
		mux.Handle("POST /"+verb, e.verbHandler(verb, name))
	}
	mux.Handle("GET /{$}", e.private(e.index))
	mux.Handle("GET /version", e.private(e.versionPage))
	mux.Handle("GET /metrics", e.private(promhttp.HandlerFor(e.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", e.readyz)
	mux.HandleFunc("/", e.refuse)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e.draining.Load() { // so that clients leave the connections that Shutdown closes
			w.Header().Set("Connection", "close")
		}
		mux.ServeHTTP(w, r)
	})
}

// private pages need a client certificate if the verbs do. The probes do not: a kubelet has
// none.
func (e *Extender) private(page http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e.lacksCertificate(r) {
			writeRefusal(w, errNoCertificate)
			return
		}
		page(w, r)
	})
}

// lacksCertificate reports whether a request lacks the certificate that it needs.
func (e *Extender) lacksCertificate(r *http.Request) bool {
	return e.Config.TLS.ClientCAFile != "" && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0)
}

func (e *Extender) index(w http.ResponseWriter, _ *http.Request) {
	writeText(w, http.StatusOK, fmt.Sprintf("regex-scheduling extender %s for kube-scheduler, filter: %s, prioritize: %s\n",
		e.Version, e.Config.Filter, e.Config.Prioritize))
}

func (e *Extender) versionPage(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{
		"version": e.Version, "goVersion": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
	})
}

// readyz is ready until the extender is stopped. It reports unhealthy algorithms, but stays
// ready: they still answer.
func (e *Extender) readyz(w http.ResponseWriter, _ *http.Request) {
	if e.draining.Load() {
		writeText(w, http.StatusServiceUnavailable, "shutting down\n")
		return
	}
	page, health := "ok\n", e.health()
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
	write(w, status, "text/plain; charset=utf-8", text)
}
