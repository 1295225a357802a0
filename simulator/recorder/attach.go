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
	profiles map[string]*profile   // by name
	nodes    nodes                 // used by the scheduling cycle only
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
	s := &session{recorder: r, profiles: map[string]*profile{}, inFlight: map[types.UID]*record{}}
	names := make([]string, len(sched.Extenders))
	for i, extender := range sched.Extenders {
		names[i] = name(extender.Name())
	}
	for name, fwk := range sched.Profiles {
		s.watchVictims(fwk)
		s.watchPlugins(fwk)
		s.profiles[name] = newProfile(name, fwk, sched.Extenders, names)
		sched.Profiles[name] = &recordedFramework{Framework: fwk, session: s}
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
		s.recorder.update(func() { rec.end(Failed, "the scheduler was stopped during this attempt") })
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

// profile is what all attempts in a profile have in common.
type profile struct {
	name    string
	plugins [points][]string
	columns []Column
	column  map[string]int // by plugin, or by extenderKey
	weights map[string]int64
	recent  recent // the recorder's lock guards it
}

// extenderKey is the name of an extender in a profile: two may have one URL.
func extenderKey(i int) string { return fmt.Sprintf("extender %d", i) }

func newProfile(name string, fwk schedframework.Framework, extenders []framework.Extender, names []string) *profile {
	enabled := fwk.ListPlugins()
	p := &profile{name: name, plugins: pluginsAt(enabled), column: map[string]int{}, weights: map[string]int64{}}
	for _, plugin := range enabled.Filter.Enabled {
		p.column[plugin.Name] = len(p.columns)
		p.columns = append(p.columns, Column{Name: plugin.Name})
	}
	for i, extender := range extenders {
		if extender.IsFilter() {
			p.column[extenderKey(i)] = len(p.columns)
			p.columns = append(p.columns, Column{Name: names[i], Extender: true})
		}
	}
	for _, plugin := range enabled.Score.Enabled {
		p.weights[plugin.Name] = int64(plugin.Weight)
	}
	return p
}

// columnOf is the column of a plugin, or -1.
func (p *profile) columnOf(plugin string) int {
	if column, ok := p.column[plugin]; ok {
		return column
	}
	return -1
}
