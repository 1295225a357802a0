package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress tells how far a run is: in one line that changes on a terminal, in a
// line now and then elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	began    time.Time
	last     time.Time
}

// pause is how long a log stays silent.
const pause = 10 * time.Second

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, began: time.Now()}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// say is called often.
func (p *progress) say(what string, done float64) {
	now := time.Now()
	line := fmt.Sprintf("%5.0fs  %3.0f%%  %s", now.Sub(p.began).Seconds(), 100*done, what)
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
		return
	}
	if now.Sub(p.last) >= pause {
		p.last = now
		fmt.Fprintln(p.out, line)
	}
}

func (p *progress) end() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
