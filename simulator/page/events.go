package page

import (
	"fmt"
	"net/http"
	"time"
)

// calm is the least time between two events to one browser: often enough to
// look live, rarely enough to look at.
const calm = 400 * time.Millisecond

// heartbeat keeps the connection of a quiet cluster from looking dead.
const heartbeat = 20 * time.Second

// events tells the browser, by server-sent events, each time that something has
// changed. What has changed it finds out by asking for what it shows.
func (p *page) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Time{})
	next := p.view.next()
	for event := "event: cluster\ndata:\n\n"; ; {
		if _, err := fmt.Fprint(w, event); err != nil || rc.Flush() != nil {
			return
		}
		select { // calm down
		case <-r.Context().Done():
			return
		case <-time.After(calm):
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(heartbeat):
			event = ": still here\n\n"
		case <-next:
			next = p.view.next()
			event = "event: cluster\ndata:\n\n"
		}
	}
}
