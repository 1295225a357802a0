package side

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-base/version"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// Outcome is the outcome of a pod on a side.
type Outcome struct {
	Node        string `json:"node,omitempty"`        // where it is, or empty
	State       string `json:"state"`                 // one of those below
	Message     string `json:"message,omitempty"`     // that of the last attempt
	PreemptedBy string `json:"preemptedBy,omitempty"` // a pod
	Attempts    int    `json:"attempts"`              // how often the scheduler tried
	// Attempt is the last one, with what each plugin said of each node; nil if the
	// scheduler did not look at the pod.
	Attempt *recorder.Attempt `json:"-"`

	Since   uint64  `json:"since,omitempty"`   // the attempt that preempted it
	Victims []int32 `json:"victims,omitempty"` // the priorities of the pods that were preempted for it, sorted

	MadeRoom *recorder.Attempt `json:"-"` // the first that preempted others for it
}

// Refused is a further state: the API server rejects the pod.
const Refused = "Refused"

// result has the outcomes of all pods that a side has seen.
func (s *Side) result() (*Result, error) {
	s.see()
	o := s.options
	s.lacks()
	basis := s.engine.Describe()
	r := &Result{
		Format: Format, Kubernetes: version.Get().GitVersion, Name: o.Name, Task: o.Task, Mode: o.Pods, Steps: len(o.Scenario.Steps), Seed: o.Seed,
		Rejected: s.refused, NotModelled: s.engine.Cluster.NotModelled(), Unanswered: s.engine.Scheduler.Unanswered(), Ignored: s.engine.Scheduler.Ignored(), Read: s.engine.Scheduler.Read(), Reads: s.engine.Scheduler.Keys(cluster.All[*v1.Pod](s.engine.Cluster)), Skipped: s.engine.Cluster.Skipped, Inferred: s.engine.Cluster.Inferred,
		Lacks: basis.Lacks, Remedy: basis.Remedy,
	}
	for _, name := range sortedNames(s.pods) {
		pod := s.pods[name]
		pod.Outcome = s.outcome(name)
		r.Pods = append(r.Pods, pod)
	}
	r.Index()
	for _, node := range cluster.All[*v1.Node](s.engine.Cluster) {
		r.Nodes = append(r.Nodes, Node{Name: node.Name, Labels: node.Labels, Allocatable: node.Status.Allocatable, Today: s.nodes.Has(node.Name)})
	}
	slices.SortFunc(r.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, notice := range s.refused {
		r.Pod(KeyOf(strings.TrimPrefix(notice.About, "pod "))).Outcome = Outcome{State: Refused, Message: notice.Reason}
	}
	for _, set := range cluster.All[*appsv1.DaemonSet](s.engine.Cluster) {
		rejected := s.engine.Cluster.RejectionOf(set.Namespace, cluster.Workload{Kind: "DaemonSet", Name: set.Name})
		if rejected != "" {
			r.Rejected = append(r.Rejected, snapshot.Notice{About: "pods of daemonset " + cluster.NameOf(set).String(), Reason: rejected})
		}
	}
	for _, name := range sortedNames(s.tried) {
		r.addVictims(name, s.tried[name])
	}
	var err error
	r.Setups, err = newSetups(o.Text, s.engine.Scheduler.Kube.Profiles)
	return r, err
}

// lacks takes note of what could change the result if the input lacks it.
func (s *Side) lacks() {
	var pending, tried []*v1.Pod
	for _, pod := range cluster.All[*v1.Pod](s.engine.Cluster) {
		if pod.Spec.NodeName == "" {
			pending = append(pending, pod)
		}
		if s.tried[cluster.NameOf(pod)] != nil {
			tried = append(tried, pod)
		}
	}
	s.engine.LacksFor(pending)
	for _, one := range s.tried {
		if len(one.rooms) > 0 {
			s.engine.LacksForPreemption()
			break
		}
	}
	s.engine.LacksForNodes(tried)
}

func sortedNames[T any](of map[types.NamespacedName]T) []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(of), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// outcome has what the attempts say, too.
func (s *Side) outcome(name types.NamespacedName) Outcome {
	is := s.engine.Outcome(name)
	o := Outcome{Node: is.Node, State: is.State, Message: is.Message}
	if is.State == engine.Preempted {
		o.PreemptedBy = is.PreemptedBy.String()
	}
	one := s.tried[name]
	if one == nil {
		return o
	}
	if one.last.PodGroup != nil { // whose victims are known after the attempts of its pods
		s.refresh(name, one)
	}
	o.Attempts, o.Attempt = one.attempts, &one.last
	if len(one.rooms) > 0 {
		o.MadeRoom = &one.rooms[0]
	}
	if is.State != engine.Gone && is.State != engine.Preempted {
		o.Message = one.last.Message + one.last.PodGroup.Note()
	}
	return o
}

// refresh takes the preemptions from the attempts as the recorder has them now.
func (s *Side) refresh(name types.NamespacedName, one *tried) {
	var rooms []recorder.Attempt
	for _, attempt := range slices.Backward(s.records.Attempts(name.Namespace, name.Name)) {
		if attempt.Preemption != nil {
			rooms = append(rooms, attempt)
		}
	}
	if len(rooms) >= len(one.rooms) { // or else it has forgotten some
		one.rooms = rooms
	}
}

// addVictims says of pods that are gone by which pod they were preempted: the engine names
// its PodGroup.
func (r *Result) addVictims(name types.NamespacedName, one *tried) {
	by := r.Pod(name)
	for _, room := range one.rooms {
		for _, victim := range room.Preemption.Victims {
			o := r.Pod(KeyOf(victim))
			by.Victims = append(by.Victims, o.Priority)
			if o.State == engine.Preempted {
				o.PreemptedBy = name.String()
				o.Since = one.rooms[0].ID
			}
		}
	}
	slices.Sort(by.Victims)
}

// Pod is a pod by its name: one that is gone if the side knows none.
func (r *Result) Pod(name types.NamespacedName) *Pod {
	pod := r.byName[name]
	if pod != nil {
		return pod
	}
	return &Pod{Namespace: name.Namespace, Name: name.Name, Outcome: Outcome{State: engine.Gone}}
}

// Names are the names of all pods.
func (r *Result) Names() sets.Set[types.NamespacedName] { return sets.KeySet(r.byName) }

// KeyOf is a pod's key by its name as namespace/name.
func KeyOf(name string) types.NamespacedName {
	namespace, pod, _ := strings.Cut(name, "/")
	return types.NamespacedName{Namespace: namespace, Name: pod}
}
