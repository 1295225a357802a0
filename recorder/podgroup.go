package recorder

import (
	"cmp"
	"fmt"
	"time"
)

// PodGroup is an attempt for all pods of a PodGroup that wait: each has one in it. They
// get their nodes once enough of them can.
type PodGroup struct {
	Name   string    `json:"name"`             // with its namespace
	Time   time.Time `json:"time"`             // when it began
	Pods   int       `json:"pods"`             // how many waited
	Fit    int       `json:"fit"`              // how many of them a node would do for
	Reason string    `json:"reason,omitempty"` // why all of them wait, or empty

	tryOut bool // preemption tries what would be with other pods gone
}

// Note is what to say beside a pod's own reason, if its PodGroup waits.
func (g *PodGroup) Note() string {
	if g == nil || g.Reason == "" {
		return ""
	}
	return fmt.Sprintf("; PodGroup %s waits: %d of %d pods fit", g.Name, g.Fit, g.Pods)
}

func (g *PodGroup) isTryOut() bool { return g != nil && g.tryOut }

// taken begins with what was taken from the queue: a group, or a pod alone.
func (s *session) taken(group string, pods int) {
	s.group.Store(nil)
	if group != "" {
		s.group.Store(&PodGroup{Name: group, Time: time.Now(), Pods: pods})
	}
}

func (s *session) tryOut(on bool) {
	group := s.group.Load()
	s.recorder.update(func() { group.tryOut, group.Reason = on, cmp.Or(group.Reason, "no node would do for any of them") })
}

// groupMakesRoom is the first attempt of the newest cycle in which no place was found for
// a PodGroup.
func (r *Recorder) groupMakesRoom(group string) (first *record) {
	for at := r.order.Back(); at != nil; at = at.Prev() {
		switch rec := at.Value.(*record); {
		case first != nil && rec.PodGroup != first.PodGroup:
			return first
		case first != nil, rec.PodGroup != nil && rec.PodGroup.Name == group && rec.PodGroup.Reason != "":
			first = rec
		}
	}
	return first
}
