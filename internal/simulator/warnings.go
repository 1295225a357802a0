package simulator

import (
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// How many warnings a person is shown in a while. The kubelets try again what
// fails, for each of a thousand nodes.
const (
	warningsShown = 5
	warningsWhile = time.Minute
)

// warnings writes lines for a person, few at a time.
type warnings struct {
	to io.Writer

	mu      sync.Mutex
	few     flowcontrol.PassiveRateLimiter
	omitted int
}

func newWarnings(to io.Writer, now clock.PassiveClock) *warnings {
	return &warnings{to: to, few: flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(warningsShown/float32(warningsWhile.Seconds()), warningsShown, now)}
}

// of takes what a part of the simulator warns of.
func (w *warnings) of(part string) *log.Logger { return log.New(w, part, 0) }

// Write writes a warning in one line, unless there were too many of late. The next one says how many are omitted.
func (w *warnings) Write(warning []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.few.TryAccept() {
		w.omitted++
		return len(warning), nil
	}
	if w.omitted > 0 {
		fmt.Fprintf(w.to, "warning: %d more warnings were omitted\n", w.omitted)
		w.omitted = 0
	}
	_, err := fmt.Fprintln(w.to, "warning:", printable.Whole(strings.Join(strings.Fields(string(warning)), " ")))
	return len(warning), err
}
