package wasmhost

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// SignPod implements fwk.SignPlugin: pods that the guest cannot tell apart have the
// same signature, and the scheduler may use for one pod what it found out for another.
// A plugin that does not sign turns opportunistic batching off for all pods of its
// profile.
func (p *plugin) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if p.answers == nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, p.notRemembered)
	}
	if p.answers.off.Load() {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the guest has broken its promise to decide by what it declares")
	}
	var fragments []fwk.SignFragment
	for _, field := range p.decidesBy.Pod {
		var signed any // nil where the field is not there, which is not the empty one
		if value, ok := valueOf(field, &pod.ObjectMeta); ok {
			signed = value
		}
		fragments = append(fragments, fwk.SignFragment{Key: field.String(), Value: signed})
	}
	return fragments, nil
}
