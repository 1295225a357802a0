package simulator

import (
	"context"
	"fmt"
	"testing"

	kit "wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

func TestEverySubscriberIsNotifiedWithoutWaiting(t *testing.T) {
	var s signal
	ctx, cancel := context.WithCancel(t.Context())
	first, second := s.subscribe(ctx), s.subscribe(t.Context())
	s.send()
	s.send() // nothing has been read yet
	kit.Receives(t, "a value for the first subscriber", first)
	kit.Receives(t, "a value for the second subscriber", second)
	select {
	case <-first:
		t.Error("two sends before a read came as two values")
	default:
	}
	cancel()
	kit.Succeeds(t, "the subscription ends", func(context.Context) error {
		n := s.len()
		if n != 1 {
			return fmt.Errorf("%d subscriptions", n)
		}
		return nil
	})
}

func (s *signal) len() (n int) {
	for range s.subscribers.Range {
		n++
	}
	return n
}
