package broadcast

import (
	"context"
	"fmt"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

func TestEverySubscriberIsToldAndNobodyIsWaitedFor(t *testing.T) {
	var s Signal
	ctx, cancel := context.WithCancel(t.Context())
	first, second := s.Subscribe(ctx), s.Subscribe(t.Context())
	s.Send()
	s.Send() // nobody has read yet
	eventually.Receives(t, "a value for the first subscriber", first)
	eventually.Receives(t, "a value for the second subscriber", second)
	select {
	case <-first:
		t.Error("two sends before a read came as two values")
	default:
	}
	cancel()
	eventually.Succeeds(t, "the subscription ends", func(context.Context) error {
		if n := s.len(); n != 1 {
			return fmt.Errorf("%d subscriptions", n)
		}
		return nil
	})
}

func (s *Signal) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subs)
}
