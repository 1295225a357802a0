package scheduler

import (
	"context"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
)

// bindHere has extenders bind by the scheduler's client, unless ExtenderBind is set. The
// framework, and so each plugin's handle, has the same list of them.
func (o Options) bindHere(ctx context.Context, sched *scheduler.Scheduler, client kubernetes.Interface) {
	for i, extender := range sched.Extenders {
		if extender.IsBinder() && !o.ExtenderBind {
			sched.Extenders[i] = bindsHere{extender, ctx, client}
		}
	}
}

// bindsHere is an extender that is sent everything but what it is to bind.
type bindsHere struct {
	fwk.Extender
	ctx    context.Context // of the scheduler, since Bind gets none
	client kubernetes.Interface
}

// Bind implements fwk.Extender.
func (b bindsHere) Bind(binding *v1.Binding) error {
	return b.client.CoreV1().Pods(binding.Namespace).Bind(b.ctx, binding, metav1.CreateOptions{})
}
