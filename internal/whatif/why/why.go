// Package why says why a pod is pending: it tries the pod in a copy of a cluster in memory,
// with the real scheduler, and keeps every plugin's verdict on every node. It writes to no real cluster.
package why

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// Options say which pod is tried where.
type Options struct {
	engine.Options // its Recorder is the try's own
	Pod            types.NamespacedName
	Workload       cluster.Workload // for [Pending]: of whose pods, in Pod's namespace; empty: of all
	Progress       engine.Progress  // may be nil
}

// Result is why a pod is pending, or that it is not.
type Result struct {
	Pod       string   `json:"pod"`
	Pending   bool     `json:"pending"` // it stays so in the copy
	Verdict   string   `json:"verdict"` // a sentence, without an end
	Counts    Counts   `json:"counts"`
	Hint      string   `json:"hint,omitempty"`
	Node      string   `json:"node,omitempty"`      // that it has, or would get
	Preempted []string `json:"preempted,omitempty"` // pods that would be preempted for it
	Changes   []Change `json:"changes,omitempty"`   // that were tried: first the ones that help
	Unlisted  Unlisted `json:"unlisted,omitzero"`   // changes
	// Attempt is the last one; nil if the scheduler did not try the pod.
	Attempt *recorder.Attempt `json:"attempt,omitempty"`
	Basis   *report.Basis     `json:"basis,omitempty"` // nil if nothing was tried
}

// Why tries a pod, with all that are pending. That the cluster has no such pod is an error.
func Why(ctx context.Context, o Options) (*Result, error) {
	pod, err := find(o.Cluster, o.Pod)
	if err != nil {
		return nil, err
	}
	r := &Result{Pod: o.Pod.String(), Node: pod.Spec.NodeName, Counts: Counts{Pods: 1}}
	is := notPending(pod)
	if is != "" {
		r.Verdict = fmt.Sprintf("Pod %s is not pending: it %s", r.Pod, is)
		if pod.Spec.NodeName != "" && pod.Status.Phase == v1.PodPending {
			r.Hint = "Its containers do not run yet. This says why: " + cli.Shell([]string{"kubectl", "describe", "pod", pod.Name, "-n", pod.Namespace})
		}
		return r, nil
	}
	o.Recorder = recorder.New(func() {})
	if minor.PodGroupOf(pod) == "" { // else its attempts tell of the group's other pods
		o.Recorder.Only = func(tried *v1.Pod) bool { return cluster.NameOf(tried) == o.Pod }
	}
	e, err := engine.New(ctx, o.Options)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	e.Scheduler.OnAttempt = func(tried types.NamespacedName) {
		last, ok := o.Recorder.Latest(tried.Namespace, tried.Name)
		if ok && tried == o.Pod {
			r.Attempt = &last // before newer ones of other pods have the recorder forget it
		}
	}
	if o.Progress != nil {
		o.Progress("schedules", 0, 0)
	}
	if err := e.Run(ctx); err != nil {
		return nil, err
	}
	r.judge(e.Outcome(o.Pod), e.Cluster.Skipped)
	if r.Pending && minor.PodGroupOf(pod) == "" {
		now := cluster.Get[*v1.Pod](e.Cluster, o.Pod.Namespace, o.Pod.Name)
		o.Recorder.Only = func(*v1.Pod) bool { return false }
		r.Changes, r.Unlisted, err = changes(ctx, e, now, r.Attempt)
		if err != nil {
			return nil, err
		}
	}
	e.LacksFor([]*v1.Pod{pod})
	if len(r.Preempted) > 0 {
		e.LacksForPreemption()
	}
	e.LacksForNodes([]*v1.Pod{pod})
	basis := e.Describe()
	r.Basis = &basis
	r.Verdict = basis.Qualify(r.Verdict)
	return r, nil
}

// find is a copy of a pod of a cluster: an engine reorders the cluster's list. The error names other namespaces with such a pod, or
// pods whose names begin so.
func find(s *snapshot.Snapshot, name types.NamespacedName) (*v1.Pod, error) {
	var others, near, far []string
	for i := range s.Pods {
		pod := &s.Pods[i]
		if cluster.NameOf(pod) == name {
			return pod.DeepCopy(), nil
		}
		switch {
		case pod.Name == name.Name:
			others = append(others, pod.Namespace)
		case strings.HasPrefix(pod.Name, name.Name) && pod.Namespace == name.Namespace:
			near = append(near, cluster.NameOf(pod).String())
		case strings.HasPrefix(pod.Name, name.Name):
			far = append(far, cluster.NameOf(pod).String())
		}
	}
	err := fmt.Errorf("namespace %s has no pod %s", name.Namespace, name.Name)
	if len(others) > 0 {
		return nil, fmt.Errorf("%w: it is in namespace %s", err, report.Few(others))
	}
	near = append(near, far...)
	if len(near) > 0 {
		return nil, fmt.Errorf("%w; names that begin so: %s", err, report.Few(near))
	}
	return nil, err
}

// notPending says what a pod is, unless it is pending.
func notPending(pod *v1.Pod) string {
	switch {
	case podutil.IsPodTerminal(pod):
		return "has ended (" + string(pod.Status.Phase) + ")"
	case pod.DeletionTimestamp != nil:
		return "is being deleted"
	case pod.Spec.NodeName != "":
		return "is on node " + pod.Spec.NodeName
	}
	return ""
}

// notTried is why a pod may be pending in a cluster that is scheduled in the copy, where pods that are being deleted have left.
func notTried(deleted []string) string {
	cause := "its scheduler does not run, has not tried the pod again yet, or has another configuration: try that with --config."
	if len(deleted) > 0 {
		cause = "pods that are being deleted may still have their room: " + report.Few(deleted) + ". Or " + cause
	}
	return "If it stays pending in the cluster, " + cause
}

// judge says what the result of the pod is.
func (r *Result) judge(o engine.Outcome, deleted []string) {
	r.Preempted = namesOf(o.Preempted)
	r.Node = o.Node
	if r.Node == "" {
		r.Pending = true
		r.Counts.Pending = 1
		r.Verdict = fmt.Sprintf("Pod %s is pending%s", r.Pod, because(o, r.Attempt))
		return
	}
	r.Verdict = fmt.Sprintf("Nothing keeps pod %s pending in the copy: it would be scheduled to node %s", r.Pod, r.Node)
	if len(r.Preempted) > 0 {
		r.Verdict = Preemption{Pod: r.Pod, Node: r.Node, Preempted: r.Preempted}.String()
	}
	r.Hint = notTried(deleted)
}

// Preemption is how a pod gets room.
type Preemption struct {
	Pod       string   `json:"pod"`
	Node      string   `json:"node"`
	Preempted []string `json:"preempted"` // pods
}

// String is a sentence, without an end.
func (p Preemption) String() string {
	return fmt.Sprintf("Pod %s is pending until there is room on node %s, which it gets by preemption of %s", p.Pod, p.Node, report.Few(p.Preempted))
}

func namesOf(pods []types.NamespacedName) (all []string) {
	for _, pod := range pods {
		all = append(all, pod.String())
	}
	return all
}

// because is why a pod is pending, as the rest of a sentence.
func because(o engine.Outcome, attempt *recorder.Attempt) string {
	if attempt == nil || o.State == engine.NotAsked {
		return strings.TrimSuffix(" because the scheduler does not try it: "+o.Reason(), ".")
	}
	return strings.TrimSuffix(attempt.Because(o.Reason()), ".")
}
