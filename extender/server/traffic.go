package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// quiet is how long nothing must have happened on any connection until they
// are closed. A request that comes on an idle one at that moment would be lost;
// who was quiet for so long sends none in the same microseconds, but by chance.
const quiet = 250 * time.Millisecond

// traffic knows of every connection whether there is, or may be, a request on
// it. The zero value is that of a server without connections.
type traffic struct {
	mu   sync.Mutex
	busy map[net.Conn]struct{}
	last time.Time // that something happened
	came time.Time // the last connection
}

// note is http.Server.ConnState. A connection is busy from the start: who has
// connected is about to send.
func (t *traffic) note(c net.Conn, state http.ConnState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = time.Now()
	if state == http.StateNew {
		t.came = t.last
	}
	switch state {
	case http.StateNew, http.StateActive:
		if t.busy == nil {
			t.busy = make(map[net.Conn]struct{})
		}
		t.busy[c] = struct{}{}
	default:
		delete(t.busy, c)
	}
}

func (t *traffic) isQuiet() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.busy) == 0 && time.Since(t.last) >= quiet
}

// noneCame reports whether no connection has come for a while since begun.
func (t *traffic) noneCame(begun time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Since(begun) >= quiet && time.Since(t.came) >= quiet
}

// await waits until something holds, or ctx is done.
func await(ctx context.Context, holds func() bool) {
	tick := time.NewTicker(quiet / 25)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
