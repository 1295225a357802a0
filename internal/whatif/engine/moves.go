package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/scheduling"
)

// Move is the result for a pod that lost its node, or was to leave it.
type Move struct {
	Pod         string `json:"pod"`                // with its namespace
	Workload    string `json:"workload,omitempty"` // what makes it, such as "Deployment web"; empty if nothing does
	From        string `json:"from"`
	To          string `json:"to,omitempty"`          // empty if there is no other node for it
	Feasible    int    `json:"feasible,omitempty"`    // as in Outcome
	Sampled     bool   `json:"sampled,omitempty"`     // as in Outcome: more nodes may be feasible
	Reason      string `json:"reason,omitempty"`      // why not
	NotCreated  bool   `json:"notCreated,omitempty"`  // since the API server rejects what would take its place
	PreemptedBy string `json:"preemptedBy,omitempty"` // the pod that preempted it
	Against     string `json:"-"`                     // the reason without numbers, and without that nodes are cordoned unless all are; may be empty
}

// Moves are the results for some of the pods that there were before, each by where the pod is now that its controller has
// created in its place: one of a StatefulSet has its name, others are alike.
func (e *Engine) Moves(before *Pods, were []*v1.Pod) []Move {
	successors := e.successors(before)
	moves := make([]Move, len(were))
	for i, was := range were {
		moves[i] = e.Move(was, successors[was.UID])
	}
	return moves
}

// Move is the result for a pod that there was before, of which another one has come in its place, or nil.
func (e *Engine) Move(was, now *v1.Pod) Move {
	m := Move{Pod: cluster.NameOf(was).String(), Workload: e.Cluster.WorkloadName(was), From: was.Spec.NodeName}
	preemption, ok := e.Scheduler.Attempts.Preemption(cluster.NameOf(was))
	if ok && preemption.UID == was.UID {
		m.PreemptedBy = preemption.By.String()
	}
	terminating := now != nil && now.UID == was.UID && now.DeletionTimestamp != nil
	if now == nil || terminating {
		m.NotCreated = e.rejection(was) != ""
		m.Reason = e.gone(was, terminating)
		return m
	}
	o := e.Outcome(cluster.NameOf(now))
	m.To, m.Feasible, m.Sampled = o.Node, o.Feasible, o.Sampled
	if m.To == "" {
		m.Reason, m.Feasible, m.Sampled = o.Reason(), 0, false
		m.Against = strings.Join(o.Against.Reasons, ", ")
	}
	held := e.Cluster.NotStarted(now)
	if held != "" {
		m.To, m.Feasible, m.Sampled, m.Reason, m.Against = "", 0, false, held, ""
	}
	return m
}

// successors are the pods that have come in the place of pods that are gone, by the UIDs of these: created ones, or, of a workload whose
// pods are alike, ones that were pending.
func (e *Engine) successors(before *Pods) map[types.UID]*v1.Pod {
	type place struct {
		namespace string
		of        cluster.Workload
	}
	created, all, terminating := map[place][]*v1.Pod{}, map[types.UID]*v1.Pod{}, map[types.UID]*v1.Pod{}
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		at := place{pod.Namespace, e.Cluster.WorkloadOf(pod)}
		owner := metav1.GetControllerOf(pod)
		alike := owner != nil && owner.Kind != "StatefulSet" && owner.Kind != "DaemonSet" && pod.Labels[batchv1.JobCompletionIndexAnnotation] == ""
		switch {
		case !before.uids.Has(pod.UID) || alike && before.pending.Has(pod.UID) && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil:
			created[at] = append(created[at], pod)
		case pod.DeletionTimestamp != nil:
			terminating[pod.UID] = pod
		default:
			all[pod.UID] = pod
		}
	}
	without := func(pod *v1.Pod) int { return map[bool]int{true: 1}[pod.Spec.NodeName == ""] }
	for _, pods := range created {
		slices.SortStableFunc(pods, func(a, b *v1.Pod) int {
			return cmp.Or(without(a)-without(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
		})
	}
	for _, pod := range before.Placed {
		if all[pod.UID] != nil {
			continue
		}
		at := place{pod.Namespace, e.Cluster.WorkloadOf(pod)}
		next := 0
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.Kind == "StatefulSet" {
			next = slices.IndexFunc(created[at], func(other *v1.Pod) bool { return other.Name == pod.Name })
		}
		if next < 0 || len(created[at]) == 0 {
			if terminating[pod.UID] != nil {
				all[pod.UID] = terminating[pod.UID]
			}
			continue
		}
		all[pod.UID] = created[at][next]
		created[at] = slices.Delete(created[at], next, next+1)
	}
	return all
}

// rejection is why an API server rejects what would take the place of a pod, or empty.
func (e *Engine) rejection(was *v1.Pod) string {
	of := e.Cluster.WorkloadOf(was)
	if of.Kind == "" {
		of = cluster.Workload{Kind: "Pod", Name: was.Name}
	}
	return e.Cluster.RejectionOf(was.Namespace, of)
}

// NotRecreated is the reason where a controller wants no pod in the place of one.
const NotRecreated = "its controller does not recreate it"

// gone is why no pod has come in the place of one, which may be terminating still.
func (e *Engine) gone(was *v1.Pod, terminating bool) string {
	owner := metav1.GetControllerOf(was)
	rejected, failure := e.rejection(was), e.failure(owner, was.Namespace)
	switch {
	case rejected != "":
		return Rejection(rejected)
	case owner == nil && e.WasPreempted(was):
		return "it was preempted, and nothing recreates it"
	case failure != "":
		return failure
	case terminating && len(was.Finalizers) > 0:
		return e.Cluster.Terminating(was)
	case owner == nil:
		return "it is deleted, and nothing recreates it"
	case terminating && (owner.Kind == "StatefulSet" || owner.Kind == "Job"):
		return "it stays terminating, and its " + owner.Kind + " does not recreate it before it is gone: delete the node, or taint it node.kubernetes.io/out-of-service"
	}
	return cmp.Or(e.Missing(owner.UID, owner.Kind, was.Namespace), NotRecreated)
}

// failure is why an owner that is a Job has failed, or empty.
func (e *Engine) failure(owner *metav1.OwnerReference, namespace string) string {
	if owner == nil || owner.Kind != "Job" {
		return ""
	}
	job := cluster.Get[*batchv1.Job](e.Cluster, namespace, owner.Name)
	if job == nil || job.UID != owner.UID {
		return ""
	}
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget) && c.Status == v1.ConditionTrue {
			return "its Job has failed: " + c.Message
		}
	}
	return ""
}

// Rejection says that an API server rejects an object.
func Rejection(message string) string {
	return "the API server rejects it: " + snapshot.Reason(message)
}

// Missing is why an owner lacks a pod that is not rejected, if that is known.
func (e *Engine) Missing(owner types.UID, kind, namespace string) string {
	if kind != "StatefulSet" {
		return ""
	}
	for _, pod := range e.Cluster.PodsOf(owner, namespace) {
		if !podutil.IsPodReady(pod) {
			return "its StatefulSet does not make it before " + pod.Name + " is ready"
		}
	}
	return ""
}

// Has says whether a pod is still there.
func (e *Engine) Has(pod *v1.Pod) bool {
	now := cluster.Get[*v1.Pod](e.Cluster, pod.Namespace, pod.Name)
	return now != nil && now.UID == pod.UID
}

// WasPreempted says whether a pod was preempted, unless that is rolled back.
func (e *Engine) WasPreempted(pod *v1.Pod) bool {
	preemption, _ := e.Scheduler.Attempts.Preemption(cluster.NameOf(pod))
	return preemption.UID == pod.UID
}

// Place says where a pod has come to, and how many other nodes would have done, at least if they are sampled.
func Place(node string, feasible int, sampled bool) string {
	switch {
	case node == "" || feasible == 1 && !sampled:
		return node
	case feasible == 0:
		return node + ", by preemption"
	case sampled && feasible == 1:
		return node + ", and perhaps others"
	case sampled:
		return fmt.Sprintf("%s or at least %d others", node, feasible-1)
	case feasible == 2:
		return node + " or 1 other"
	}
	return fmt.Sprintf("%s or %d others", node, feasible-1)
}

// Recreatable reports whether a controller recreates a pod.
func Recreatable(pod *v1.Pod) bool { return metav1.GetControllerOf(pod) != nil }

// Pods are the pods of a cluster at a time.
type Pods struct {
	// Placed have a node, have not ended, as those have that a kubelet rejects, and are not terminating, by name. A terminating pod of a StatefulSet is one of them: it has no
	// successor before it is gone.
	Placed        []*v1.Pod
	uids, pending sets.Set[types.UID]
}

// Pods are the pods as they are. Take them before a change, to see later which have moved.
func (e *Engine) Pods() *Pods {
	now := &Pods{uids: sets.New[types.UID](), pending: sets.New[types.UID]()}
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		now.uids.Insert(pod.UID)
		if pod.Spec.NodeName == "" {
			now.pending.Insert(pod.UID)
		}
		owner := metav1.GetControllerOf(pod)
		terminating := pod.DeletionTimestamp != nil
		if pod.Spec.NodeName != "" && !podutil.IsPodTerminal(pod) && (!terminating || owner != nil && owner.Kind == "StatefulSet") {
			now.Placed = append(now.Placed, pod)
		}
	}
	return now
}

// RunBeforeQuestion runs before a change. What that changes in the cluster is part of [Engine.Describe]. Pods that are pending
// then are out of the default backoff: the scheduler tries them before pods that the change creates.
func (e *Engine) RunBeforeQuestion(ctx context.Context) error {
	pods, nodes, workloads := cluster.All[*v1.Pod](e.Cluster), cluster.All[*v1.Node](e.Cluster), map[types.UID]string{}
	for _, pod := range pods {
		workloads[pod.UID] = cmp.Or(e.Cluster.WorkloadName(pod), "no workload")
	}
	if err := e.Run(ctx); err != nil {
		return err
	}
	e.clock.Step(scheduling.MaxBackoff)
	changed := map[string]int{}
	for _, pod := range pods {
		was := workloads[pod.UID]
		now := cluster.Get[*v1.Pod](e.Cluster, pod.Namespace, pod.Name)
		switch {
		case e.WasPreempted(pod):
			changed["the scheduler preempted %s of "+was]++
		case !e.Has(pod):
			changed["controllers deleted %s of "+was]++
		case was != cmp.Or(e.Cluster.WorkloadName(now), "no workload"):
			changed["controllers gave %s of "+was+" to "+cmp.Or(e.Cluster.WorkloadName(now), "no workload")]++
		}
	}
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if workloads[pod.UID] == "" {
			changed["controllers created %s of "+e.Cluster.WorkloadName(pod)]++
		}
	}
	for _, what := range slices.Sorted(maps.Keys(changed)) {
		e.basis.Before = append(e.basis.Before, fmt.Sprintf(what, report.Plural(changed[what], "pod")))
	}
	nodes = slices.DeleteFunc(nodes, func(was *v1.Node) bool {
		now := cluster.Get[*v1.Node](e.Cluster, "", was.Name)
		return now != nil && reflect.DeepEqual(was.Spec.Taints, now.Spec.Taints)
	})
	if len(nodes) > 0 {
		e.basis.Before = append(e.basis.Before, "the node controller changed the taints of "+report.Plural(len(nodes), "node"))
	}
	return nil
}

// Only are of these pods some that have a node: what comes later comes in the place of one of them.
func (p *Pods) Only(placed []*v1.Pod) *Pods {
	return &Pods{Placed: placed, uids: p.uids, pending: p.pending}
}

// Has says whether a pod was there.
func (p *Pods) Has(pod *v1.Pod) bool { return p.uids.Has(pod.UID) }
