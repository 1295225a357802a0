package compare

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-base/version"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

// Outcome is what became of a pod on a side.
type Outcome struct {
	Node        string `json:"node,omitempty"`        // where it is, or empty
	State       string `json:"state"`                 // Scheduled, Unschedulable, Error, or one of those below
	Message     string `json:"message,omitempty"`     // that of the last attempt
	PushedOutBy string `json:"pushedOutBy,omitempty"` // the pod that preemption made room for
	Attempts    int    `json:"attempts"`              // how often the scheduler tried
	// Attempt is the last one, with what each plugin said of each node; nil if the
	// scheduler did not look at the pod.
	Attempt *recorder.Attempt `json:"-"`

	Took    time.Duration `json:"tookNanoseconds,omitempty"` // all attempts together
	Since   uint64        `json:"since,omitempty"`           // the attempt that pushed it out
	Victims []int32       `json:"victims,omitempty"`         // the priorities of those that were pushed out for it, sorted

	room *recorder.Attempt // that pushed others out for it
}

// States of a pod that the scheduler's attempts don't tell.
const (
	Stayed    = "Stayed"    // it had a node in the file, and still has
	Gone      = "Gone"      // it was deleted
	PushedOut = "PushedOut" // preemption deleted it
	// NotAsked: no profile has the pod's schedulerName, or the pod is not to be
	// scheduled yet.
	NotAsked = "NotAsked"
	Refused  = "Refused" // it had a node in the file, and the API server did not take it
)

// newSideResult is what came of the pods that a side has seen, given what is there at
// the end.
func newSideResult(s *side, nodes []v1.Node, pods []v1.Pod) *SideResult {
	o := s.options
	r := &SideResult{
		Format: Format, Kubernetes: version.Get().GitVersion, Name: o.Name, Task: o.Task, Mode: o.Pods, Steps: len(o.Scenario.Steps), Seed: o.Seed,
		LeftOut: s.notices,
	}
	for _, pod := range s.pods {
		now := *pod // a result before this one keeps its own
		now.Outcome = Outcome{State: Gone}
		r.Pods = append(r.Pods, &now)
	}
	r.index()
	for i := range nodes {
		r.Nodes = append(r.Nodes, s.plan.newNode(&nodes[i]))
	}
	slices.SortFunc(r.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, notice := range s.notices {
		if pod, ok := strings.CutPrefix(notice.About, "pod "); ok && r.today(keyOf(pod)) != "" {
			r.byName[keyOf(pod)].Outcome = Outcome{State: Refused, Message: notice.Reason}
		}
	}
	for i := range pods {
		o := Outcome{Node: pods[i].Spec.NodeName, State: Stayed}
		if o.Node == "" {
			o = Outcome{State: NotAsked, Message: notAsked(&pods[i])}
		}
		r.byName[nameOf(&pods[i])].Outcome = o
	}
	attempts := s.outcomes()
	for name, one := range attempts {
		was := r.outcome(name)
		o := Outcome{
			Node: was.Node, State: string(one.last.Result), Message: one.last.Message + one.last.PodGroup.Note(),
			Attempts: one.last.Number, Attempt: &one.last, room: one.room, Took: one.took,
		}
		if was.State == Gone {
			o.State = Gone
		}
		r.of(name).Outcome = o
	}
	for name, one := range attempts {
		r.addVictims(name, one)
	}
	return r
}

// of is a pod, also if it came and went unseen.
func (r *SideResult) of(name types.NamespacedName) *Pod {
	pod := r.byName[name]
	if pod == nil {
		pod = &Pod{Namespace: name.Namespace, Name: name.Name, Outcome: Outcome{State: Gone}}
		r.Pods, r.byName[name] = append(r.Pods, pod), pod
	}
	return pod
}

func notAsked(pod *v1.Pod) string {
	if len(pod.Spec.SchedulingGates) > 0 {
		return "it has scheduling gates"
	}
	if group := minor.PodGroupOf(pod); group != "" {
		return "PodGroup " + group + " is not there, or has fewer pods than its minCount"
	}
	return "no profile is called " + pod.Spec.SchedulerName
}

// addVictims says of pods that are gone that this one pushed them out.
func (r *SideResult) addVictims(name types.NamespacedName, one tried) {
	by := r.of(name)
	for _, victim := range one.victims {
		o := r.of(keyOf(victim))
		if by.Victims = append(by.Victims, o.Priority); o.State == Gone {
			o.State, o.PushedOutBy, o.Since = PushedOut, name.String(), cmp.Or(one.room, &one.last).ID
		}
	}
	slices.Sort(by.Victims)
}

// decisive are the attempts by which a pod has its node, or none: with that for the
// pod whose list of nodes it was given the next of.
func (r *SideResult) decisive(pod types.NamespacedName) (all []*recorder.Attempt) {
	o := r.outcome(pod)
	for _, attempt := range []*recorder.Attempt{o.Attempt, o.room} {
		if attempt == nil {
			continue
		}
		if all = append(all, attempt); attempt.Hint != nil {
			if listed := r.outcome(keyOf(attempt.Hint.Pod)).Attempt; listed != nil {
				all = append(all, listed)
			}
		}
	}
	return all
}

// pod is one that is gone if the side knows of none.
func (r *SideResult) pod(name types.NamespacedName) *Pod {
	if pod := r.byName[name]; pod != nil {
		return pod
	}
	return &Pod{Outcome: Outcome{State: Gone}}
}

func (r *SideResult) outcome(name types.NamespacedName) Outcome { return r.pod(name).Outcome }

// today is the node that a pod has in the file, or empty.
func (r *SideResult) today(name types.NamespacedName) string { return r.pod(name).Today }

// placedBefore are the pods that were given a node, or pushed out of it, before an
// attempt.
func (r *SideResult) placedBefore(node string, attempt *recorder.Attempt) sets.Set[types.NamespacedName] {
	pods := sets.New[types.NamespacedName]()
	if attempt == nil {
		return pods
	}
	for name, o := range r.byName {
		by := r.outcome(keyOf(o.PushedOutBy)).Attempt
		if gave(o.Attempt, node) && o.Attempt.ID < attempt.ID || gave(by, node) && o.Since < attempt.ID {
			pods.Insert(name)
		}
	}
	return pods
}

func gave(attempt *recorder.Attempt, node string) bool {
	return attempt != nil && attempt.Result == recorder.Scheduled && attempt.Node == node
}

func (r *SideResult) times() (t Times) {
	var took []time.Duration
	for _, o := range r.byName {
		if o.Attempts > 0 {
			took, t.Attempts = append(took, o.Took), t.Attempts+o.Attempts
		}
	}
	if t.Pods = len(took); t.Pods > 0 {
		slices.Sort(took)
		t.P50, t.P99 = took[(t.Pods-1)*50/100], took[(t.Pods-1)*99/100]
	}
	return t
}
