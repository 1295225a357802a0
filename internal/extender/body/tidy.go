package body

import (
	"runtime/debug"
	"sync"
	"time"
)

// tidyAfter is how long after the last large request its memory goes back to
// the system. The runtime alone would keep it for minutes.
const tidyAfter = 10 * time.Second

// tidy gives memory back when there was no large request for a while.
type tidy struct {
	mu    sync.Mutex
	timer *time.Timer
}

// after says that a request is over that has held so many bytes.
func (t *tidy) after(held int64) {
	if held <= large {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil {
		t.timer = time.AfterFunc(tidyAfter, giveBack)
	} else {
		t.timer.Reset(tidyAfter)
	}
}

func giveBack() {
	spares.clear()
	debug.FreeOSMemory()
}
