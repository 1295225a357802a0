package command

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/whatif/compare"
)

// often is how long a step goes on before it is shown again.
const often = 3 * time.Second

// newPrinter shows how far it is, in lines for a person.
func newPrinter(to io.Writer) func(compare.Progress) {
	var mu sync.Mutex
	began, last, shown := time.Now(), map[string]compare.Progress{}, map[string]time.Time{} // by side
	return func(p compare.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if l := last[p.Side]; l.Run == p.Run && l.Step == p.Step && time.Since(shown[p.Side]) < often {
			return
		}
		last[p.Side], shown[p.Side] = p, time.Now()
		fmt.Fprintf(to, "%6.1fs  %v\n", time.Since(began).Seconds(), p)
	}
}

// tells is told how far a command is.
func tells(cmd *cobra.Command) func(step string, done, of int) {
	say := newPrinter(cmd.ErrOrStderr())
	return func(step string, done, of int) { say(compare.Progress{Step: step, Done: done, Of: of}) }
}
