package engine

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// Feasible is the node that the scheduler would give a pod as things are, and how many were feasible. It changes nothing, and preempts no
// pod. Without such a node, the name is empty. Call it when outcomes are no longer needed: that of the pod may change.
func (e *Engine) Feasible(ctx context.Context, pod *v1.Pod) (node string, feasible int, err error) {
	defer kubescheduler.Recover(ctx, &err)
	of := e.Scheduler.Kube.Profiles[pod.Spec.SchedulerName]
	if of == nil {
		return "", 0, nil
	}
	quiet := klog.New(nil)
	nodes, ok := of.SnapshotSharedLister().(*cache.Snapshot) // which an attempt begins with
	if !ok {
		return "", 0, fmt.Errorf("the scheduler's list of nodes is a %T", of.SnapshotSharedLister())
	}
	err = e.Scheduler.Kube.Cache.UpdateSnapshot(quiet, nodes)
	if err != nil {
		return "", 0, err
	}
	result, err := e.Scheduler.Kube.SchedulePod(klog.NewContext(ctx, quiet), of, schedframework.NewCycleState(), hooks.Enqueue(pod))
	var unfit *schedframework.FitError
	if errors.As(err, &unfit) || errors.Is(err, scheduler.ErrNoNodesAvailable) {
		return "", 0, nil
	}
	return result.SuggestedHost, result.FeasibleNodes, err
}
