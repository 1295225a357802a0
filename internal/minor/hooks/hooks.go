// Package hooks holds what differs between minors of Kubernetes in the functions
// of a scheduler that others put theirs around.
package hooks

import (
	"context"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// SchedulePod is how a scheduler looks for a node.
type SchedulePod = func(context.Context, framework.Framework, fwk.CycleState, *Queued) (scheduler.ScheduleResult, error)

// RankNodes is called before plugins rank nodes, whose order it may change. What it returns is called when they have, or have not.
type RankNodes = func(state fwk.CycleState, nodes []fwk.NodeInfo) (after func(ranked bool))
