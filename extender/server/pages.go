package server

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
)

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
	writeText(w, http.StatusOK, fmt.Sprintf("regex-scheduling extender %s for kube-scheduler, mode: %s, filter: %s, prioritize: %s\n",
		s.Version, s.Config.Mode, s.Filter, s.Prioritize))
}

func (s *Server) versionPage(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{
		"version": s.Version, "goVersion": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
	})
}

func healthz(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") }

// readyz is ready from the first request to the order to stop. Algorithms that
// are unwell are told of, but answer, so they do not make it unready.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		writeText(w, http.StatusServiceUnavailable, "shutting down\n")
		return
	}
	var page strings.Builder
	page.WriteString("ok\n")
	for _, one := range s.Health() {
		sign := "+"
		if !one.Health.OK {
			sign = "-"
		}
		fmt.Fprintf(&page, "[%s] %s: %s\n", sign, one.Name, one.Health.Detail)
	}
	writeText(w, http.StatusOK, page.String())
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
