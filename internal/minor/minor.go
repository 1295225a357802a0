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
	Pod           *v1.Pod
	Status        **fwk.Status          // the answer
	Result        **fwk.PreFilterResult // of PreFilter
	Timeout       *time.Duration        // of Permit
}

// Done is deferred in a call: it may recover, and change the answer.
type Done func(context.Context, Call)
