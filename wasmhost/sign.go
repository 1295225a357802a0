package wasmhost

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// signs reports whether the host can sign pods for a guest: it has said what it
// decides by, and changes nothing on the way, as those do that reserve, permit
// or bind. A plugin that does not sign turns opportunistic batching off, for all
// pods of its profile.
func (p *plugin) signs() bool {
	return p.decidesBy != 0 && !p.guest.Exports().Has(bindingCycle...)
}

// bindingCycle are the hooks from Reserve on.
var bindingCycle = []abi.Hook{abi.Reserve, abi.Unreserve, abi.Permit, abi.PreBind, abi.Bind, abi.PostBind}

// signHooks sign pods for a guest: those that it cannot tell apart have the same
// signature, and the scheduler may use what it found out about one for the next.
type signHooks struct{ p *plugin }

// annotationsSigner is the key of a pod's annotations, named as the framework
// names fields.
const annotationsSigner = "v1.Pod.Annotations"

// SignPod implements fwk.SignPlugin. By the name of a node no pod differs.
func (h signHooks) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if h.p.decidesBy&abi.ByPodAnnotations == 0 {
		return nil, nil
	}
	return []fwk.SignFragment{{Key: annotationsSigner, Value: pod.Annotations}}, nil
}

func maskSigning(p *plugin, filters, scores bool) fwk.Plugin {
	filter, score, sign := filterHooks{p}, scoreHooks{p}, signHooks{p}
	switch {
	case filters && scores:
		return struct {
			*plugin
			filterHooks
			scoreHooks
			signHooks
		}{p, filter, score, sign}
	case filters:
		return struct {
			*plugin
			filterHooks
			signHooks
		}{p, filter, sign}
	case scores:
		return struct {
			*plugin
			scoreHooks
			signHooks
		}{p, score, sign}
	}
	return struct {
		*plugin
		signHooks
	}{p, sign}
}
