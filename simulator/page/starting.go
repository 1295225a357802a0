package page

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Starting is what there is to see until the simulator runs: the steps of its
// start. It reloads itself, and so turns into the page once that is served.
type Starting struct {
	began time.Time

	mu    sync.Mutex
	steps []startStep
}

type startStep struct {
	Name  string
	After time.Duration
}

// NewStarting begins to count the time.
func NewStarting() *Starting { return &Starting{began: time.Now()} }

// Say says which step has just begun.
func (s *Starting) Say(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, startStep{step, time.Since(s.began)})
}

func (s *Starting) view() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	view := map[string]any{"Elapsed": time.Since(s.began)}
	if last := len(s.steps) - 1; last >= 0 {
		view["Done"], view["Now"] = append([]startStep(nil), s.steps[:last]...), s.steps[last]
	}
	return view
}

// ServeHTTP answers every address with the state of the start.
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
