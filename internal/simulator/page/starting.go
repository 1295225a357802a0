package page

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Starting is a page with the steps of the simulator's start. It reloads itself, and so turns
// into the page once that is served.
type Starting struct {
	began time.Time

	mu    sync.Mutex
	steps []string
}

// NewStarting starts the clock of the page.
func NewStarting() *Starting { return &Starting{began: time.Now()} }

// Say begins a step.
func (s *Starting) Say(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, step)
}

func (s *Starting) view() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]any{"Elapsed": time.Since(s.began), "Steps": slices.Clone(s.steps), "Last": len(s.steps) - 1}
}

// ServeHTTP sends the steps for every address but that of an asset; the API gets an error.
func (s *Starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/assets/") {
		http.FileServerFS(assets).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Retry-After", "1")
	if strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"message":"the simulator is starting"}` + "\n"))
		return
	}
	body, err := execute("starting", s.view())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, http.StatusServiceUnavailable, body)
}
