package simulator

import (
	"context"
	"sync"
)

// signal wakes any number of subscribers when something has changed, and never waits
// for them. The zero value is ready to use.
type signal struct{ subscribers sync.Map }

// subscribe returns a channel that gets a value soon after each send. Several
// sends may share a value. The subscription ends with ctx; the channel is never
// closed.
func (s *signal) subscribe(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	s.subscribers.Store(c, nil)
	context.AfterFunc(ctx, func() { s.subscribers.Delete(c) })
	return c
}

func (s *signal) send() {
	for c := range s.subscribers.Range {
		select {
		case c.(chan struct{}) <- struct{}{}:
		default: // it has not read the last one yet, and will see this change too
		}
	}
}
