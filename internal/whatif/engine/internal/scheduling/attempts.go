package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// States of a pod after an attempt.
const (
	Scheduled     = "Scheduled"     // it has a node that the scheduler gave it
	Unschedulable = "Unschedulable" // each node was rejected
	Failed        = "Error"         // something went wrong each time that it was tried
)

// Outcome is the outcome of a pod.
type Outcome struct {
	Node     string
	State    string
	Message  string // that of the last attempt, if the pod has no node
	Attempts int
	// Feasible is how many nodes the scheduler found feasible, of the ones that it looked at, when it gave the pod its node: it
	// had no choice if this is 1. It is 0 if it gave it none, or by preemption.
	Feasible int
	// Sampled: it may not have looked at all nodes, so that more may be feasible.
	Sampled     bool
	Against     Against              // of the last attempt, if the pod has no node
	PreemptedBy types.NamespacedName // if it is preempted
	Preempted   []types.NamespacedName
}

// Against is why nodes reject a pod, by the statuses that plugins give them.
type Against struct {
	Reasons []string // each once, sorted. That a node is cordoned is one only if there is no other
	Lacking []string // the resources of which nodes have too little left, sorted
}

// newAgainst is for a pod that no node of a profile fits. The scheduler itself says of nodes that a plugin has not named only that they
// did not satisfy it.
func newAgainst(of framework.Framework, unfit *framework.FitError, notNamed string) (a Against) {
	reasons, cordons, lacking := sets.Set[string]{}, sets.Set[string]{}, sets.Set[string]{}
	lacks := recorder.Lacking(unfit.Pod)
	nodes := unfit.Diagnosis.NodeToStatus
	nodes.ForEachExplicitNode(func(name string, status *fwk.Status) {
		if status.Plugin() == names.NodeUnschedulable {
			cordons.Insert(status.Reasons()...)
			return
		}
		reasons.Insert(status.Reasons()...)
		node, err := of.SnapshotSharedLister().NodeInfos().Get(name)
		if status.Plugin() == names.NodeResourcesFit && err == nil {
			lacking.Insert(lacks(node)...)
		}
	})
	absent := unfit.NumAllNodes - nodes.Len()
	switch {
	case absent > 0 && notNamed != "":
		reasons.Insert(strings.TrimPrefix(notNamed, fmt.Sprintf("%d ", absent)))
	case absent > 0:
		reasons.Insert(nodes.AbsentNodesStatus().Reasons()...)
	}
	if len(reasons) == 0 {
		reasons = cordons
	}
	return Against{sets.List(reasons), sets.List(lacking)}
}

// Reason is why a pod has no node, in a line.
func (o Outcome) Reason() string {
	return strings.Join(strings.Fields(cmp.Or(o.Message, o.State)), " ")
}

// Preemption says which pod was preempted, and by which other.
type Preemption struct {
	UID types.UID
	By  types.NamespacedName
}

// Attempts are the outcomes of the scheduler's attempts.
type Attempts struct {
	mu       sync.Mutex // binding cycles write, too
	outcomes map[types.NamespacedName]Outcome
	evicted  map[types.NamespacedName]Preemption
	retries  map[types.UID]retries
	progress int // pods that were bound or preempted, and calls of ScheduleAll
	released int // pods that gave back their place on a node before they were bound
}

// retries are the attempts for a pod since there was this much progress.
type retries struct{ progress, n int }

func newAttempts() *Attempts {
	return &Attempts{outcomes: map[types.NamespacedName]Outcome{}, evicted: map[types.NamespacedName]Preemption{}, retries: map[types.UID]retries{}}
}

// Of is the outcome of the attempts for a pod, if there were any, or if it preempted another one.
func (a *Attempts) Of(pod types.NamespacedName) (Outcome, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, ok := a.outcomes[pod]
	return o, ok
}

// Preemption says how the last pod of a name was preempted, if it was.
func (a *Attempts) Preemption(pod types.NamespacedName) (Preemption, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.evicted[pod]
	return p, ok
}

// forget is called when a pod is created, or comes back by a rollback.
func (a *Attempts) forget(pod *v1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := cluster.NameOf(pod)
	delete(a.outcomes, name)
	if a.evicted[name].UID == pod.UID {
		delete(a.evicted, name)
	}
}

func (a *Attempts) foundFeasible(pod *v1.Pod, nodes int, sampled bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if pod.Status.NominatedNodeName != "" {
		nodes, sampled = 0, false
	}
	o := a.outcomes[cluster.NameOf(pod)]
	o.Feasible = nodes
	o.Sampled = sampled
	a.outcomes[cluster.NameOf(pod)] = o
}

func (a *Attempts) failed(pod *v1.Pod, status *fwk.Status, against Against) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.outcomes[cluster.NameOf(pod)]
	o.Attempts++
	o.Message = status.Message()
	o.Against = against
	o.State = Failed
	if status.IsRejected() {
		o.State = Unschedulable
	}
	a.outcomes[cluster.NameOf(pod)] = o
	r := a.retries[pod.UID]
	if r.progress != a.progress {
		r = retries{progress: a.progress}
	}
	r.n++
	a.retries[pod.UID] = r
}

func (a *Attempts) bound(pod *v1.Pod, node string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.outcomes[cluster.NameOf(pod)]
	o.Attempts++
	o.State = Scheduled
	o.Node = node
	o.Message = ""
	o.Against = Against{}
	a.outcomes[cluster.NameOf(pod)] = o
	delete(a.retries, pod.UID)
	a.progress++
}

func (a *Attempts) preempted(victim *v1.Pod, by types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.evicted[cluster.NameOf(victim)] = Preemption{victim.UID, by}
	o := a.outcomes[by]
	o.Preempted = append(slices.Clone(o.Preempted), cluster.NameOf(victim))
	a.outcomes[by] = o
	a.progress++
}

func (a *Attempts) addProgress() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.progress++
}

func (a *Attempts) addReleased() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.released++
}

// changes is another number after each change by which an unschedulable pod may become schedulable.
func (a *Attempts) changes() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.progress + a.released
}

// tries is how many attempts for a pod there were since there was progress.
func (a *Attempts) tries(pod *v1.Pod) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.retries[pod.UID]
	if r.progress != a.progress {
		return 0
	}
	return r.n
}

// eventRecorder takes the scheduler's events: two of them say what nothing else does.
type eventRecorder struct{ scheduler *Scheduler }

// WithLogger implements events.EventRecorderLogger.
func (r eventRecorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

// Eventf implements events.EventRecorder.
func (r eventRecorder) Eventf(regarding, related runtime.Object, _, reason, _, _ string, _ ...any) {
	pod, _ := regarding.(*v1.Pod)
	if pod == nil {
		return
	}
	switch reason {
	case "BindingConditionsPending":
		r.scheduler.bindings.cancelPreBind(pod)
	case "Preempted":
		by, ok := related.(interface {
			GetNamespace() string
			GetName() string
		})
		if ok {
			r.scheduler.Attempts.preempted(pod, types.NamespacedName{Namespace: by.GetNamespace(), Name: by.GetName()})
		}
	}
}
