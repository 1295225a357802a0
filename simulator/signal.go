package simulator

import (
	"context"
	"sync"
)

// signal wakes any number of subscribers when something has changed. What has, they
// find out. It never waits for them. The zero value is ready to use.
type signal struct {
	mu   sync.Mutex
	subs map[chan struct{}]struct{}
}

// subscribe returns a channel that gets a value soon after each send. Several
// sends may share a value. The subscription ends with ctx; the channel is never
// closed.
func (s *signal) subscribe(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs == nil {
		s.subs = map[chan struct{}]struct{}{}
	}
	s.subs[c] = struct{}{}
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subs, c)
	})
	return c
}

// send wakes all subscribers.
func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.subs {
		select {
		case c <- struct{}{}:
		default: // it has not read the last one yet, and will see this change too
		}
	}
}
