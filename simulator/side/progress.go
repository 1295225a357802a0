package side

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Schedules is the step in which the scheduler is at work.
const Schedules = "schedules"

// Progress is how far a side is.
type Progress struct {
	Run, Runs int
	Side      string // A or B; empty where there is one alone
	Step      string
	Done, Of  int // Of is 0 if nobody knows
}

func (p Progress) String() string {
	line := p.Step
	if p.Side != "" {
		line = p.Side + ": " + line
	}
	if p.Of > 0 {
		line += fmt.Sprintf(", %d of %d", p.Done, p.Of)
	}
	if p.Runs > 1 {
		line = fmt.Sprintf("run %d of %d, %s", p.Run, p.Runs, line)
	}
	return line
}

// often is how long a step goes on before it is shown again.
const often = 3 * time.Second

// NewPrinter shows how far it is, in lines for a person.
func NewPrinter(to io.Writer) func(Progress) {
	var mu sync.Mutex
	began, last, shown := time.Now(), map[string]Progress{}, map[string]time.Time{} // by side
	return func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if l := last[p.Side]; l.Run == p.Run && l.Step == p.Step && time.Since(shown[p.Side]) < often {
			return
		}
		last[p.Side], shown[p.Side] = p, time.Now()
		fmt.Fprintf(to, "%6.1fs  %v\n", time.Since(began).Seconds(), p)
	}
}
