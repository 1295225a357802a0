package command

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
)

func quietFlag(flags *pflag.FlagSet) {
	flags.BoolP("quiet", "q", false, "do not show progress")
}

// printer shows how far something is.
type printer struct {
	mu     sync.Mutex
	to     io.Writer
	began  time.Time
	sides  map[string]compare.Progress // by side
	shown  map[string]compare.Progress
	last   map[string]time.Time // when that was
	window int                  // columns of the terminal; 0: it is none
}

// newPrinter shows progress in one line of a terminal, which is drawn again and again, or else
// in a line for each step, and again every few seconds.
func newPrinter(to io.Writer) *printer {
	p := &printer{to: to, window: cli.Width(to, 0), began: time.Now(), sides: map[string]compare.Progress{}, shown: map[string]compare.Progress{}, last: map[string]time.Time{}}
	return p
}

// progressOf shows how far a command is that has a quietFlag.
func progressOf(cmd *cobra.Command) *printer {
	quiet, _ := cmd.Flags().GetBool("quiet")
	if quiet {
		return newPrinter(io.Discard)
	}
	return newPrinter(cmd.ErrOrStderr())
}

// show prints a line, unless the same step was shown just before.
func (p *printer) show(now compare.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	again := 3 * time.Second
	if p.window > 0 {
		again = 100 * time.Millisecond
	}
	before := p.sides[now.Side]
	p.sides[now.Side] = now
	if before.Step == now.Step && time.Since(p.last[now.Side]) < again {
		return
	}
	if before.Step != now.Step && before.Of == 0 && before != p.shown[now.Side] {
		p.print(before) // all that there was in the end
	}
	p.last[now.Side] = time.Now()
	p.print(now)
}

// print prints where a side is, in a line of its own, or draws the line of all sides.
func (p *printer) print(now compare.Progress) {
	p.shown[now.Side] = now
	seconds := time.Since(p.began).Seconds()
	if p.window == 0 {
		fmt.Fprintf(p.to, "%6.1fs  %v\n", seconds, now)
		return
	}
	fmt.Fprint(p.to, "\r\x1b[K", drawn(p.window, seconds, p.sides))
}

// end clears the line, before something else is written.
func (p *printer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for side, now := range p.sides {
		if now.Of == 0 && now != p.shown[side] {
			p.print(now)
		}
	}
	if p.window > 0 {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}

// drawn is the line for a terminal: the bar is about all sides together.
func drawn(window int, seconds float64, sides map[string]compare.Progress) string {
	const bar = 20
	done, of := 0, 0
	var all []string
	for _, side := range slices.Sorted(maps.Keys(sides)) {
		done, of = done+sides[side].Done, of+sides[side].Of
		all = append(all, sides[side].String())
	}
	full := 0
	if of > 0 {
		full = min(bar, bar*done/of)
	}
	line := []rune(fmt.Sprintf("%6.1fs  %s%s  %s", seconds, strings.Repeat("█", full), strings.Repeat("░", bar-full), strings.Join(all, "; ")))
	return string(line[:min(len(line), window-1)])
}

// step shows a step of a command that has no sides.
func (p *printer) step(step string, done, of int) {
	p.show(compare.Progress{Step: step, Done: done, Of: of})
}
