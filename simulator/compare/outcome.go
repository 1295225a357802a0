package compare

import (
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

	since uint64            // the attempt that pushed it out
	room  *recorder.Attempt // that pushed others out for it
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
	pods     map[types.NamespacedName]*v1.Pod
	nodes    []v1.Node
	outcomes map[types.NamespacedName]Outcome
	placed   map[string][]placement           // by node
	victims  map[types.NamespacedName][]int32 // priorities of those that were pushed out for a pod, sorted
	took     []time.Duration                  // by pod, all its attempts together; sorted
	attempts int
	notices  []snapshot.Notice // what the API server has refused
	setups   map[string]setup  // by profile
}

// placement is a pod that was given a node by an attempt, or pushed out of it.
type placement struct {
	attempt uint64
	pod     types.NamespacedName
}

func newSideResult(s *side, nodes []v1.Node, pods []v1.Pod) *sideResult {
	r := &sideResult{
		pods: map[types.NamespacedName]*v1.Pod{}, nodes: nodes, notices: s.notices, outcomes: map[types.NamespacedName]Outcome{},
		placed: map[string][]placement{}, victims: map[types.NamespacedName][]int32{},
	}
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
		r.addTried(name, one)
	}
	slices.Sort(r.took)
	for name, one := range attempts {
		r.addVictims(name, one, s.plan.priorities)
	}
	return r
}

func notAsked(pod *v1.Pod) string {
	if len(pod.Spec.SchedulingGates) > 0 {
		return "it has scheduling gates"
	}
	return "no profile is called " + pod.Spec.SchedulerName
}

func (r *sideResult) addTried(name types.NamespacedName, one tried) {
	o := Outcome{State: string(one.last.Result), Message: one.last.Message, Attempts: one.last.Number, Attempt: &one.last, room: one.room}
	if pod := r.pods[name]; pod == nil {
		o.State = Gone
	} else {
		o.Node = pod.Spec.NodeName
	}
	r.outcomes[name] = o
	r.took, r.attempts = append(r.took, one.took), r.attempts+one.last.Number
	if one.last.Result == recorder.Scheduled {
		r.placed[one.last.Node] = append(r.placed[one.last.Node], placement{one.last.ID, name})
	}
}

// addVictims says of pods that are gone that this one pushed them out.
func (r *sideResult) addVictims(name types.NamespacedName, one tried, priorities map[types.NamespacedName]int32) {
	for _, victim := range one.victims {
		key := keyOf(victim)
		r.victims[name] = append(r.victims[name], priorities[key])
		if o, there := r.outcomes[key]; !there || o.State == Gone {
			o.State, o.PushedOutBy, o.since = PushedOut, name.String(), one.madeRoom()
			r.outcomes[key] = o
			node := one.last.Node
			r.placed[node] = append(r.placed[node], placement{one.madeRoom(), key})
		}
	}
	slices.Sort(r.victims[name])
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
	for _, one := range r.placed[node] {
		if attempt != nil && one.attempt < attempt.ID {
			pods.Insert(one.pod)
		}
	}
	return pods
}
