package wasmhost

import (
	"fmt"
	"sync"
	"time"
)

// HungAfter is how long a call of a guest may last before [Host.Healthy] fails.
const HungAfter = 10 * time.Second

// Healthy is an error while a call of a guest lasts longer than HungAfter: then
// pods wait for it, or soon will, and nothing but a new process helps.
func (h *Host) Healthy() error { return h.watch.healthy() }

// watch looks at all slots now and then. What call one is in is told by its turn
// alone, so that calls need not look at a clock.
type watch struct {
	after time.Duration // zero is HungAfter; tests have less patience

	mu      sync.Mutex
	plugins map[*plugin]map[*slot]turn
	stop    chan struct{}
}

// turn is when a slot was first seen in a call.
type turn struct {
	number uint64
	since  time.Time
}

func (w *watch) patience() time.Duration {
	if w.after > 0 {
		return w.after
	}
	return HungAfter
}

// add watches a plugin. As long as there are any, a goroutine does.
func (w *watch) add(p *plugin) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.plugins) == 0 {
		w.plugins, w.stop = map[*plugin]map[*slot]turn{}, make(chan struct{})
		go w.run(w.stop, w.patience()/10)
	}
	w.plugins[p] = map[*slot]turn{}
}

func (w *watch) remove(p *plugin) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.plugins[p]; !ok {
		return
	}
	delete(w.plugins, p)
	if len(w.plugins) == 0 {
		close(w.stop)
	}
}

func (w *watch) run(stop <-chan struct{}, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			w.mu.Lock()
			w.look()
			w.mu.Unlock()
		}
	}
}

func (w *watch) look() {
	now := time.Now()
	for p, before := range w.plugins {
		seen := map[*slot]turn{}
		for _, s := range p.pool.all() {
			number := s.turn.Load()
			if number%2 == 0 {
				continue
			}
			if seen[s] = before[s]; seen[s].number != number {
				seen[s] = turn{number, now}
			}
		}
		w.plugins[p] = seen
	}
}

func (w *watch) healthy() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, seen := range w.plugins {
		for s, t := range seen {
			if lasts := time.Since(t.since); lasts > w.patience() && s.turn.Load() == t.number {
				return fmt.Errorf("plugin %s: a call of guest %s has not returned for %s", p.name, p.url, lasts.Round(time.Second))
			}
		}
	}
	return nil
}
