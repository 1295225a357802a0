package recorder

import (
	"cmp"
	"fmt"
	"time"
)

// PodGroup is an attempt for all pending pods of a PodGroup, each of which has an attempt
// in it. They are bound once enough of them fit.
type PodGroup struct {
	Name   string    `json:"name"`             // with its namespace
	Time   time.Time `json:"time"`             // when it began
	Pods   int       `json:"pods"`             // how many were pending
	Fit    int       `json:"fit"`              // for how many of them a node passes
	Reason string    `json:"reason,omitempty"` // why all of them stay pending, or empty

	tryOut bool // preemption's dry run is under way
}

// Note is what to add to a pod's own reason, if its PodGroup stays pending.
func (g *PodGroup) Note() string {
	if g == nil || g.Reason == "" {
		return ""
	}
	return fmt.Sprintf("; PodGroup %s waits: %d of %d pods fit", g.Name, g.Fit, g.Pods)
}

func (g *PodGroup) isTryOut() bool { return g != nil && g.tryOut }

// taken is called with what the scheduler takes from its queue: a group, or a pod alone.
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

// groupPreemptor is the first attempt of the newest cycle in which a PodGroup did not fit.
func (r *Recorder) groupPreemptor(group string) (first *record) {
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
