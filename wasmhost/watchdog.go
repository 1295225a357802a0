package wasmhost

import (
	"sync"
	"sync/atomic"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// watchdog interrupts calls of a guest that last longer than its callTimeout. It
// looks at all instances now and then, since a timer for each call would take
// longer than most calls do: a call ends after up to a quarter more than the time.
type watchdog struct {
	running sync.Map     // of *instance: the *seenCall
	looks   atomic.Int64 // how often it has looked
}

// looksEach is how often it looks while a call may last.
const looksEach = 4

// seenCall is the call that an instance was seen in, and when first.
type seenCall struct {
	number uint64
	since  time.Time
}

// count is how many instances there are.
func (w *watchdog) count() (n int) {
	for range w.running.Range {
		n++
	}
	return n
}

// interrupt ends all calls.
func (w *watchdog) interrupt(why error) {
	for i := range w.running.Range {
		i.(*instance).Interrupt(why)
	}
}

// run watches until the plugin is closed.
func (w *watchdog) run(closed <-chan struct{}, timeout time.Duration) {
	ticker := time.NewTicker(max(timeout/looksEach, time.Millisecond))
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
	w.looks.Add(1)
	now := time.Now()
	for key, value := range w.running.Range {
		i, seen := key.(*instance), value.(*seenCall)
		number, calling := i.InCall()
		switch {
		case !calling:
		case number != seen.number:
			*seen = seenCall{number, now}
		case now.Sub(seen.since) >= timeout:
			i.InterruptCall(number, abi.Overdue(timeout))
		}
	}
}
