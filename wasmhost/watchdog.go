package wasmhost

import (
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// watchdog interrupts calls of a guest that last longer than its callTimeout. It
// looks at all instances now and then, since a timer for each call would take
// longer than most calls do: a call ends after up to a quarter more than the time.
// The zero value is ready to use.
type watchdog struct {
	mu      sync.Mutex
	running map[*instance]seenCall
	stop    chan struct{}
}

// seenCall is the call that an instance was seen in, and when first.
type seenCall struct {
	number uint64
	since  time.Time
}

// add watches an instance. As long as there are any, a goroutine does. No timeout
// is no watch.
func (w *watchdog) add(i *instance, timeout time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == nil {
		w.running = map[*instance]seenCall{}
	}
	w.running[i] = seenCall{}
	if timeout > 0 && w.stop == nil {
		w.stop = make(chan struct{})
		go w.run(w.stop, timeout)
	}
}

// remove ends the watch on an instance.
func (w *watchdog) remove(i *instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, i)
	if len(w.running) == 0 && w.stop != nil {
		close(w.stop)
		w.stop = nil
	}
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

func (w *watchdog) run(stop <-chan struct{}, timeout time.Duration) {
	ticker := time.NewTicker(max(timeout/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-stop:
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
