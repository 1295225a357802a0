package recorder

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// session is one scheduler that reports to the recorder. A scheduler has one scheduling
// cycle at a time; binding goes on during the next.
type session struct {
	recorder *Recorder
	current  atomic.Pointer[cycle] // nil between cycles
	profiles map[string]*profile   // by name
	nodes    nodes                 // used by the scheduling cycle only
	verdicts []nodeVerdict         // the same; by place

	group atomic.Pointer[PodGroup] // whose pods are scheduled now, or nil

	inFlight sync.Map // records by the pod's UID, until it is bound or rejected
}

// Attach makes a scheduler report to the recorder. The scheduler does not run yet. name
// turns the URL prefix of an extender into the name to show. Call detach when the
// scheduler has ended.
func (r *Recorder) Attach(sched *scheduler.Scheduler, name func(url string) string) (detach func()) {
	s := &session{recorder: r, profiles: map[string]*profile{}}
	extenders := hooks.Extenders(sched)
	names := make([]string, len(extenders))
	for i, extender := range extenders {
		names[i] = name(extender.Name())
	}
	for name, fwk := range sched.Profiles {
		s.wrapEvents(fwk)
		s.wrapPlugins(fwk)
		s.profiles[name] = newProfile(name, fwk, extenders, names)
		sched.Profiles[name] = &recordedFramework{Framework: hooks.AroundTryOuts(fwk, s.tryOut), session: s}
	}
	for i, extender := range extenders {
		extenders[i] = &recordedExtender{Extender: extender, session: s, key: extenderKey(i), name: names[i]}
	}
	hooks.AroundNext(sched, func() {}, s.taken)
	sched.SchedulePod = s.schedulePod(sched.SchedulePod)
	sched.FailureHandler = s.failureHandler(sched.FailureHandler)
	return s.detach
}

// detach ends the attempts that have not ended. A binding that is under way may still be
// recorded.
func (s *session) detach() {
	for _, rec := range s.inFlight.Range {
		s.recorder.update(func() {
			rec.(*record).Result, rec.(*record).Message = Failed, "the scheduler was stopped during this attempt"
		})
	}
}

// take returns the attempt for a pod and ends it.
func (s *session) take(pod *v1.Pod) *record {
	found, _ := s.inFlight.LoadAndDelete(pod.UID)
	rec, _ := found.(*record)
	return rec
}

// of returns the attempt for a pod, but not in preemption's dry runs.
func (s *session) of(pod *v1.Pod) *record {
	found, _ := s.inFlight.Load(pod.UID)
	rec, _ := found.(*record)
	if rec != nil && !rec.PodGroup.isTryOut() {
		return rec
	}
	return nil
}

// point is an extension point at which plugins decide about a pod.
type point int

const (
	preFilter point = iota
	preScore
	reserve
	permit
	preBind
	bind
	points // their number
)

// verdicts are the verdicts of all plugins on a pod, by point, in the order in which they run.
type verdicts [points][]PluginVerdict

func (v verdicts) clone() verdicts {
	for p := range v {
		v[p] = slices.Clone(v[p])
	}
	return v
}

// profile is what all attempts in a profile have in common.
type profile struct {
	name     string
	verdicts verdicts // before any plugin runs
	columns  []Column
	weights  map[string]int64

	lastGroups []Group // of the attempt before, for a sparse recorder. The recorder's lock guards them
}

// extenderKey tells extenders apart: two may have one URL.
func extenderKey(i int) string { return fmt.Sprintf("extender %d", i) }

func newProfile(name string, fwk schedframework.Framework, extenders []framework.Extender, names []string) *profile {
	enabled := fwk.ListPlugins()
	p := &profile{name: name, weights: map[string]int64{}}
	for point, set := range []config.PluginSet{
		enabled.PreFilter, enabled.PreScore, enabled.Reserve, enabled.Permit, enabled.PreBind, enabled.Bind,
	} {
		p.verdicts[point] = []PluginVerdict{}
		for _, plugin := range set.Enabled {
			p.verdicts[point] = append(p.verdicts[point], PluginVerdict{Plugin: plugin.Name, Verdict: NotRun})
		}
	}
	for _, plugin := range enabled.Filter.Enabled {
		p.columns = append(p.columns, Column{Name: plugin.Name, key: plugin.Name})
	}
	for i, extender := range extenders {
		if extender.IsFilter() {
			p.columns = append(p.columns, Column{Name: names[i], Extender: true, key: extenderKey(i)})
		}
	}
	for _, plugin := range enabled.Score.Enabled {
		p.weights[plugin.Name] = int64(plugin.Weight)
	}
	return p
}

// set records the verdict of this cycle on a node. Goroutines call it for different nodes.
func (s *session) set(node framework.NodeInfo, status *framework.Status) {
	c := s.current.Load()
	if c != nil && s.recorder.sparse { // an extender, which the scheduler asks alone
		if c.extended == nil {
			c.extended = map[string]nodeVerdict{}
		}
		c.extended[node.Node().Name] = c.verdict(status)
		return
	}
	place, ok := s.nodes.byName[node.Node().Name] // an extender makes NodeInfos of its own
	if c != nil && ok {
		s.verdicts[place] = c.verdict(status)
	}
}

// verdict is the verdict on a node by its status.
func (c *cycle) verdict(status *framework.Status) nodeVerdict {
	if status.IsSuccess() {
		return nodeVerdict{verdict: Passed, column: -1}
	}
	verdict, reason := verdictOf(status)
	return nodeVerdict{verdict: verdict, column: c.rec.profile.columnOf(status.Plugin()), reason: reason}
}

// columnOf is the column with a key, or -1.
func (p *profile) columnOf(key string) int {
	return slices.IndexFunc(p.columns, func(c Column) bool { return c.key == key })
}
