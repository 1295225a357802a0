package wasmhost

import (
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// watchdog interrupts calls of a guest that last longer than its callTimeout. It
// looks at all instances now and then, since a timer for each call would take
// longer than most calls do: a call ends after up to a quarter more than the time.
type watchdog struct {
	mu      sync.Mutex
	running map[*instance]seenCall
}

// seenCall is the call that an instance was seen in, and when first.
type seenCall struct {
	number uint64
	since  time.Time
}

func (w *watchdog) add(i *instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[i] = seenCall{}
}

func (w *watchdog) remove(i *instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, i)
}

// count is how many instances there are.
func (w *watchdog) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.running)
}

// interrupt ends all calls.
func (w *watchdog) interrupt(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.running {
		i.Interrupt(why)
	}
}

// run watches until the plugin is closed.
func (w *watchdog) run(closed <-chan struct{}, timeout time.Duration) {
	ticker := time.NewTicker(max(timeout/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-closed:
			return
		case <-ticker.C:
			w.look(timeout)
		}
	}
}

func (w *watchdog) look(timeout time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for i, seen := range w.running {
		switch number, calling := i.InCall(); {
		case !calling:
		case number != seen.number:
			w.running[i] = seenCall{number, now}
		case now.Sub(seen.since) >= timeout:
			i.Interrupt(abi.Overdue(timeout))
		}
	}
}
