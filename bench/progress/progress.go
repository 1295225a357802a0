// Package progress tells whoever waits for a measurement how far it is.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Progress writes one line that changes on a terminal, and a line now and then
// elsewhere.
type Progress struct {
	out      io.Writer
	terminal bool
	began    time.Time
	last     time.Time
}

// pause is how long a log stays silent.
const pause = 10 * time.Second

// To returns a Progress that begins now.
func To(out io.Writer) *Progress {
	p := &Progress{out: out, began: time.Now()}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// Say tells what is being done, and which share of all is done. It may be called
// often.
func (p *Progress) Say(what string, done float64) {
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

// End leaves the terminal's line empty.
func (p *Progress) End() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
