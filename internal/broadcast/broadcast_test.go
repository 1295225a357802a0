package broadcast

import (
	"context"
	"testing"
)

func TestEverySubscriberIsToldAndNobodyIsWaitedFor(t *testing.T) {
	var s Signal
	ctx, cancel := context.WithCancel(t.Context())
	first, second := s.Subscribe(ctx), s.Subscribe(t.Context())
	s.Send()
	s.Send() // nobody has read yet
	<-first
	<-second
	select {
	case <-first:
		t.Error("two sends before a read came as two values")
	default:
	}
	cancel()
	for s.len() != 1 { // AfterFunc runs on its own
		s.Send()
	}
}

func (s *Signal) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subs)
}
