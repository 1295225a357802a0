package recorder

import (
	"fmt"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

// session is one scheduler that reports to the recorder. A scheduler works on
// one pod at a time, up to the point where a node is chosen; binding goes on
// beside the next pod.
type session struct {
	recorder *Recorder
	current  atomic.Pointer[cycle] // nil between pods
	layouts  map[string]*layout    // by profile
	nodes    *snapshot             // used by the scheduling cycle only
	cells    []*framework.Status   // the same; by place, nil: not filtered

	mu       sync.Mutex
	inFlight map[types.UID]*record // not decided, or not bound yet
}

// Attach makes a scheduler that does not run yet report to the recorder. name
// gives an extender the name to show, from its URL prefix; it may be nil. Call
// detach when the scheduler has ended.
func (r *Recorder) Attach(sched *scheduler.Scheduler, name func(url string) string) (detach func()) {
	if name == nil {
		name = func(url string) string { return url }
	}
	s := &session{recorder: r, layouts: map[string]*layout{}, inFlight: map[types.UID]*record{}}
	names := make([]string, len(sched.Extenders))
	for i, extender := range sched.Extenders {
		names[i] = name(extender.Name())
	}
	for profile, fwk := range sched.Profiles {
		s.watchVictims(fwk)
		s.layouts[profile] = newLayout(profile, fwk, sched.Extenders, names)
		sched.Profiles[profile] = &recordedFramework{Framework: fwk, session: s, raw: watchNormalizing(fwk)}
	}
	for i, extender := range sched.Extenders {
		sched.Extenders[i] = &recordedExtender{Extender: extender, session: s, key: extenderKey(i), name: names[i]}
	}
	sched.SchedulePod = s.schedulePod(sched.SchedulePod)
	sched.FailureHandler = s.failureHandler(sched.FailureHandler)
	return s.detach
}

// detach ends the attempts that will hardly end by themselves. A binding that was
// under way may still be heard of.
func (s *session) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rec := range s.inFlight {
		s.recorder.update(rec, func() {
			rec.result, rec.message = Failed, "the scheduler was stopped during this attempt"
		})
	}
}

// take returns the attempt for a pod, which ends with that.
func (s *session) take(pod *v1.Pod) *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := s.inFlight[pod.UID]
	delete(s.inFlight, pod.UID)
	return rec
}

// of returns the attempt for a pod, which goes on.
func (s *session) of(pod *v1.Pod) *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inFlight[pod.UID]
}

func (s *session) put(rec *record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight[rec.uid] = rec
}

// extenderKey is the name of an extender in a layout: two may have one URL.
func extenderKey(i int) string { return fmt.Sprintf("extender %d", i) }

func newLayout(profile string, fwk schedframework.Framework, extenders []framework.Extender, names []string) *layout {
	l := &layout{scheduler: profile, column: map[string]int{}, weights: map[string]int64{}}
	plugins := fwk.ListPlugins()
	for _, p := range plugins.PreFilter.Enabled {
		l.preFilter = append(l.preFilter, p.Name)
	}
	for _, p := range plugins.Filter.Enabled {
		l.column[p.Name] = len(l.columns)
		l.columns = append(l.columns, Column{Name: p.Name})
	}
	for i, extender := range extenders {
		if extender.IsFilter() {
			l.column[extenderKey(i)] = len(l.columns)
			l.columns = append(l.columns, Column{Name: names[i], Extender: true})
		}
	}
	for _, p := range plugins.Score.Enabled {
		l.weights[p.Name] = int64(p.Weight)
	}
	return l
}
