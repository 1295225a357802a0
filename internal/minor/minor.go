// Package minor holds what differs between the minors of Kubernetes that the
// project can be built from. Build tags, which the Makefile sets, choose its files:
// since_1_37.go is for 1.37 and later, before_1_37.go for those before it. What needs
// more of Kubernetes than plugins do is in its folders.
package minor

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Call is a call of a plugin at an extension point, about a pod.
type Call struct {
	Plugin, Point string
	State         fwk.CycleState // nil for SignPod
	Pod           *v1.Pod
	Status        **fwk.Status          // the answer
	Result        **fwk.PreFilterResult // of PreFilter
	Timeout       *time.Duration        // of Permit
}

// Around is called before a call. What it returns is deferred: it may recover, and change the answer.
type Around func(context.Context, Call) func()
