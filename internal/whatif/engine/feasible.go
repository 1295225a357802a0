package engine

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// Feasible is the outcome for a pod if the scheduler tried it as things are: its Node, Feasible and Sampled. It changes nothing, and preempts
// no pod. Without such a node, the name is empty, and there are reasons with the number of nodes for each. Call it when outcomes are no
// longer needed: that of the pod may change.
func (e *Engine) Feasible(ctx context.Context, pod *v1.Pod) (o Outcome, reasons map[string]int, err error) {
	defer kubescheduler.Recover(ctx, &err)
	of := e.Scheduler.Kube.Profiles[pod.Spec.SchedulerName]
	if of == nil {
		return o, nil, nil
	}
	quiet := klog.New(nil)
	nodes, ok := of.SnapshotSharedLister().(*cache.Snapshot) // which an attempt begins with
	if !ok {
		return o, nil, fmt.Errorf("the scheduler's list of nodes is a %T", of.SnapshotSharedLister())
	}
	err = e.Scheduler.Kube.Cache.UpdateSnapshot(quiet, nodes)
	if err != nil {
		return o, nil, err
	}
	e.Scheduler.Trial = pod != cluster.Get[*v1.Pod](e.Cluster, pod.Namespace, pod.Name)
	defer func() { e.Scheduler.Trial = false }()
	result, err := e.Scheduler.Kube.SchedulePod(klog.NewContext(ctx, quiet), of, schedframework.NewCycleState(), hooks.Enqueue(pod))
	var unfit *schedframework.FitError
	switch {
	case errors.As(err, &unfit):
		return o, reasonsOf(unfit), nil
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		return o, nil, nil
	}
	return Outcome{Node: result.SuggestedHost, Feasible: result.FeasibleNodes, Sampled: err == nil && e.Scheduler.Sampled(of, result)}, nil, err
}

// reasonsOf are what [schedframework.FitError.Error] counts.
func reasonsOf(unfit *schedframework.FitError) map[string]int {
	of := unfit.Diagnosis
	if of.PreFilterMsg != "" {
		return map[string]int{of.PreFilterMsg: unfit.NumAllNodes}
	}
	reasons := map[string]int{}
	of.NodeToStatus.ForEachExplicitNode(func(_ string, status *fwk.Status) {
		for _, reason := range status.Reasons() {
			reasons[reason]++
		}
	})
	absent := unfit.NumAllNodes - of.NodeToStatus.Len()
	for _, reason := range of.NodeToStatus.AbsentNodesStatus().Reasons() {
		reasons[reason] += absent
	}
	return reasons
}
