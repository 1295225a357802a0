package wasmhost

import (
	"sync"
	"time"
)

// watchdog interrupts calls of a guest that last longer than its callTimeout. It
// looks at all instances now and then, since a timer for each call would take
// longer than most calls do: a call ends after up to half more than the time.
type watchdog struct {
	running sync.Map // of *instance
	looks   int64    // how often it has looked
}

// looksEach is how often it looks while a call may last.
const looksEach = 4

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

// look looks at each instance once.
func (w *watchdog) look(timeout time.Duration) {
	w.looks++
	for running := range w.running.Range {
		i := running.(*instance)
		if !i.Watch(timeout) {
			continue
		}
		a := i.attempt.Load()
		if a != nil && a.lastLook != w.looks {
			a.lastLook = w.looks
			a.looks.Add(1)
		}
	}
}
