package side

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
	"wasmkwokwizardry.io/regex-scheduling/recorder"
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

	MadeRoom *recorder.Attempt `json:"-"` // the first that pushed others out for it
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

// newResult is what came of the pods that a side has seen, given what is there at
// the end.
func newResult(s *side, nodes []v1.Node, pods []v1.Pod) *Result {
	o := s.options
	r := &Result{
		Format: Format, Kubernetes: version.Get().GitVersion, Name: o.Name, Task: o.Task, Mode: o.Pods, Steps: len(o.Scenario.Steps), Seed: o.Seed,
		LeftOut: s.notices,
	}
	for _, pod := range s.pods {
		now := *pod // a result before this one keeps its own
		now.Outcome = Outcome{State: Gone}
		r.Pods = append(r.Pods, &now)
	}
	r.Index()
	for i := range nodes {
		r.Nodes = append(r.Nodes, s.plan.newNode(&nodes[i]))
	}
	slices.SortFunc(r.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, notice := range s.notices {
		if pod, ok := strings.CutPrefix(notice.About, "pod "); ok && r.Pod(KeyOf(pod)).Today != "" {
			r.byName[KeyOf(pod)].Outcome = Outcome{State: Refused, Message: notice.Reason}
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
		was := r.Pod(name).Outcome
		o := Outcome{
			Node: was.Node, State: string(one.last.Result), Message: one.last.Message + one.last.PodGroup.Note(),
			Attempts: one.last.Number, Attempt: &one.last, MadeRoom: one.room, Took: one.took,
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
func (r *Result) of(name types.NamespacedName) *Pod {
	pod := r.Pod(name)
	if r.byName[name] == nil {
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
func (r *Result) addVictims(name types.NamespacedName, one tried) {
	by := r.of(name)
	for _, victim := range one.victims {
		o := r.of(KeyOf(victim))
		if by.Victims = append(by.Victims, o.Priority); o.State == Gone {
			o.State, o.PushedOutBy, o.Since = PushedOut, name.String(), cmp.Or(one.room, &one.last).ID
		}
	}
	slices.Sort(by.Victims)
}

// Pod is a pod by its name: one that is gone if the side knows of none.
func (r *Result) Pod(name types.NamespacedName) *Pod {
	if pod := r.byName[name]; pod != nil {
		return pod
	}
	return &Pod{Namespace: name.Namespace, Name: name.Name, Outcome: Outcome{State: Gone}}
}

// Names are those of all pods.
func (r *Result) Names() sets.Set[types.NamespacedName] { return sets.KeySet(r.byName) }

// KeyOf is a pod's key by its name as namespace/name.
func KeyOf(name string) types.NamespacedName {
	namespace, pod, _ := strings.Cut(name, "/")
	return types.NamespacedName{Namespace: namespace, Name: pod}
}
