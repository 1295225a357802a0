package compare

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
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

	took    time.Duration     // all attempts together
	since   uint64            // the attempt that pushed it out
	room    *recorder.Attempt // that pushed others out for it
	victims []int32           // the priorities of those, sorted
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

type sideResult struct {
	nodes    []v1.Node
	pods     map[types.NamespacedName]*v1.Pod
	outcomes map[types.NamespacedName]Outcome
	notices  []snapshot.Notice // what the API server has refused
	setups   map[string]setup  // by profile
}

func newSideResult(s *side, nodes []v1.Node, pods []v1.Pod) *sideResult {
	r := &sideResult{pods: map[types.NamespacedName]*v1.Pod{}, nodes: nodes, notices: s.notices, outcomes: map[types.NamespacedName]Outcome{}}
	for _, notice := range s.notices {
		if pod, ok := strings.CutPrefix(notice.About, "pod "); ok && s.plan.running[keyOf(pod)] != nil {
			r.outcomes[keyOf(pod)] = Outcome{State: Refused, Message: notice.Reason}
		}
	}
	for i := range pods {
		pod := &pods[i]
		o := Outcome{Node: pod.Spec.NodeName, State: Stayed}
		if o.Node == "" {
			o = Outcome{State: NotAsked, Message: notAsked(pod)}
		}
		r.pods[nameOf(pod)], r.outcomes[nameOf(pod)] = pod, o
	}
	attempts := s.outcomes()
	for name, one := range attempts {
		o := Outcome{
			Node: r.outcomes[name].Node, State: string(one.last.Result), Message: one.last.Message,
			Attempts: one.last.Number, Attempt: &one.last, room: one.room, took: one.took,
		}
		if r.pods[name] == nil {
			o.State = Gone
		}
		r.outcomes[name] = o
	}
	for name, one := range attempts {
		r.addVictims(name, one, s.priorities)
	}
	return r
}

func notAsked(pod *v1.Pod) string {
	if len(pod.Spec.SchedulingGates) > 0 {
		return "it has scheduling gates"
	}
	return "no profile is called " + pod.Spec.SchedulerName
}

// addVictims says of pods that are gone that this one pushed them out.
func (r *sideResult) addVictims(name types.NamespacedName, one tried, priorities map[types.NamespacedName]int32) {
	by := r.outcomes[name]
	for _, victim := range one.victims {
		key := keyOf(victim)
		by.victims = append(by.victims, priorities[key])
		if o := r.outcome(key); o.State == Gone {
			o.State, o.PushedOutBy, o.since = PushedOut, name.String(), cmp.Or(one.room, &one.last).ID
			r.outcomes[key] = o
		}
	}
	slices.Sort(by.victims)
	r.outcomes[name] = by
}

// decisive are the attempts by which a pod has its node, or none: with that for the
// pod whose list of nodes it was given the next of.
func (r *sideResult) decisive(pod types.NamespacedName) (all []*recorder.Attempt) {
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

func (r *sideResult) outcome(name types.NamespacedName) Outcome {
	if o, ok := r.outcomes[name]; ok {
		return o
	}
	return Outcome{State: Gone}
}

// placedBefore are the pods that were given a node, or pushed out of it, before an
// attempt.
func (r *sideResult) placedBefore(node string, attempt *recorder.Attempt) sets.Set[types.NamespacedName] {
	pods := sets.New[types.NamespacedName]()
	if attempt == nil {
		return pods
	}
	for name, o := range r.outcomes {
		by := r.outcome(keyOf(o.PushedOutBy)).Attempt
		if gave(o.Attempt, node) && o.Attempt.ID < attempt.ID || gave(by, node) && o.since < attempt.ID {
			pods.Insert(name)
		}
	}
	return pods
}

func gave(attempt *recorder.Attempt, node string) bool {
	return attempt != nil && attempt.Result == recorder.Scheduled && attempt.Node == node
}

func (r *sideResult) times() (t Times) {
	var took []time.Duration
	for _, o := range r.outcomes {
		if o.Attempts > 0 {
			took, t.Attempts = append(took, o.took), t.Attempts+o.Attempts
		}
	}
	if t.Pods = len(took); t.Pods > 0 {
		slices.Sort(took)
		t.P50, t.P99 = took[(t.Pods-1)*50/100], took[(t.Pods-1)*99/100]
	}
	return t
}
