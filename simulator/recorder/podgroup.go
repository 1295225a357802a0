package recorder

import (
	"fmt"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// PodGroup is an attempt for all pods of a PodGroup that wait: each has one in it. They
// get their nodes once enough of them can.
type PodGroup struct {
	hooks.PodGroup
	Time   time.Time `json:"time"`             // when it began
	Fit    int       `json:"fit"`              // how many of the pods a node would do for
	Waits  bool      `json:"waits,omitempty"`  // those are too few
	Reason string    `json:"reason,omitempty"` // why all of them wait

	tryOut bool // preemption tries what would be with other pods gone
}

// Note is what to say beside a pod's own reason, if its PodGroup waits.
func (g *PodGroup) Note() string {
	if g == nil || !g.Waits {
		return ""
	}
	return fmt.Sprintf("; PodGroup %s waits: %d of %d pods fit", g.Name, g.Fit, g.Pods)
}

func (g *PodGroup) isTryOut() bool { return g != nil && g.tryOut }

// taken begins with what was taken from the queue: a group, or nil for a pod alone.
func (s *session) taken(next *hooks.PodGroup) {
	s.group.Store(nil)
	if next != nil {
		s.group.Store(&PodGroup{PodGroup: *next, Time: time.Now()})
	}
}

func (s *session) tryOut(on bool) {
	s.recorder.update(func() { s.group.Load().tryOut, s.group.Load().Waits = on, true })
}
