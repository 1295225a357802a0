package wasmhost

import (
	"context"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// unsigned says why the host cannot sign pods for a guest, or nothing if it can:
// the guest has said what it decides by, and changes nothing on the way, as those
// do that reserve, permit or bind. A plugin that does not sign turns opportunistic
// batching off, for all pods of its profile.
func (p *plugin) unsigned() (why string) {
	switch {
	case !p.declared:
		return "the guest does not say what it decides by"
	case p.active.Has(bindingCycle...):
		return "the guest takes part in reserve, permit or binding"
	}
	return ""
}

// bindingCycle are the hooks from Reserve on.
var bindingCycle = []abi.Hook{abi.Reserve, abi.Unreserve, abi.Permit, abi.PreBind, abi.Bind, abi.PostBind}

// SignPod implements fwk.SignPlugin: pods that the guest cannot tell apart have
// the same signature, and the scheduler may use what it found out about one for
// the next. By the fields of a node no pod differs.
func (p *plugin) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if why := p.unsigned(); why != "" {
		return nil, fwk.NewStatus(fwk.Unschedulable, why)
	}
	var fragments []fwk.SignFragment
	for _, field := range p.decidesBy {
		if field.Object == abi.OfPod {
			fragments = append(fragments, fwk.SignFragment{Key: field.String(), Value: valueOf(field, pod)})
		}
	}
	return fragments, nil
}

// valueOf is what an object has in a field; nil where it has nothing, which is not
// the empty string.
func valueOf(field abi.Field, o metav1.Object) any {
	var values map[string]string
	switch field.Part {
	case abi.Namespace:
		return o.GetNamespace()
	case abi.Name:
		return o.GetName()
	case abi.Label:
		values = o.GetLabels()
	case abi.Annotation:
		values = o.GetAnnotations()
	}
	if value, ok := values[field.Key]; ok {
		return value
	}
	return nil
}
