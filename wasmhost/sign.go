package wasmhost

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// unsigned says why the host cannot sign pods for a guest, or nothing if it can:
// the guest has said what it decides by, and changes nothing on the way, as those
// do that reserve, permit or bind. A plugin that does not sign turns opportunistic
// batching off, for all pods of its profile.
func (p *plugin) unsigned() (why string) {
	switch {
	case p.decidesBy == 0:
		return "the guest does not say what it decides by"
	case p.guest.Exports().Has(bindingCycle...):
		return "the guest takes part in reserve, permit or binding"
	}
	return ""
}

// bindingCycle are the hooks from Reserve on.
var bindingCycle = []abi.Hook{abi.Reserve, abi.Unreserve, abi.Permit, abi.PreBind, abi.Bind, abi.PostBind}

// annotationsSigner is the key of a pod's annotations, named as the framework
// names fields.
const annotationsSigner = "v1.Pod.Annotations"

// SignPod implements fwk.SignPlugin: pods that the guest cannot tell apart have
// the same signature, and the scheduler may use what it found out about one for
// the next. By the name of a node no pod differs.
func (p *plugin) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if why := p.unsigned(); why != "" {
		return nil, fwk.NewStatus(fwk.Unschedulable, why)
	}
	if p.decidesBy&abi.ByPodAnnotations == 0 {
		return nil, nil
	}
	return []fwk.SignFragment{{Key: annotationsSigner, Value: pod.Annotations}}, nil
}
