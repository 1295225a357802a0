package scheduling

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// nodeVerdicts keeps what a profile's Filter plugins say of pods on nodes. Of a pod that is like another one for them they say the
// same, until the node changes: so an attempt filters those nodes that have changed since there was such a pod.
type nodeVerdicts struct {
	pods    map[string][]nodeVerdict // by all that plugins look at: verdicts by the place of the node in the list
	kept    int                      // verdicts, and what else takes as much memory
	filters map[string][]config.Plugin

	nominated atomic.Bool // some pod had a nominated node once

	// Of the current attempt:
	pod   []nodeVerdict // nil if none are kept
	alone int           // how many of the profile's plugins come before the first one that is not of ofNodeAlone: what they reject stays rejected
}

// nodeVerdict is what plugins said of a node. A pod or a field of a node that changes gives the node a generation that no node had
// before. Pods of a PodGroup that is tried do not: their nodes get the one before again.
type nodeVerdict struct {
	generation int64
	status     *fwk.Status
	decided    int // how many of the profile's plugins have, the first ones
}

// mostKept bounds the memory to 50 MB, and the statuses. A text takes as much as one of these for each keptBytes.
const (
	mostKept  = 2 << 20
	keptBytes = 24
)

// ofNodeAlone are Filter plugins that look at nothing but the node, with its pods, and at the fields of a pod that [nodeVerdicts.begin]
// lists. NodeResourcesFit looks at DeviceClasses, too, if these can have a resource: then DynamicResources filters nodes as well.
var ofNodeAlone = sets.New(names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit)

// begin begins an attempt, when PreFilter plugins have said which Filter plugins have nothing to say.
func (v *nodeVerdicts) begin(of framework.Framework, state fwk.CycleState, pod *v1.Pod, nodes int, keep bool) {
	v.pod = nil
	skipped := state.GetSkipFilterPlugins()
	if !keep || !skipped.Has(names.DynamicResources) || minor.PodGroupOf(pod) != "" {
		return
	}
	if v.filters == nil {
		v.filters = map[string][]config.Plugin{}
		v.pods = map[string][]nodeVerdict{}
	}
	if v.filters[of.ProfileName()] == nil {
		v.filters[of.ProfileName()] = of.ListPlugins().Filter.Enabled
	}
	filters := v.filters[of.ProfileName()]
	v.alone = slices.IndexFunc(filters, func(p config.Plugin) bool { return !skipped.Has(p.Name) && !ofNodeAlone.Has(p.Name) })
	if v.alone < 0 {
		v.alone = len(filters)
	}
	read := &v1.PodSpec{
		NodeName: pod.Spec.NodeName, NodeSelector: pod.Spec.NodeSelector, Affinity: pod.Spec.Affinity, Tolerations: pod.Spec.Tolerations,
		HostNetwork: pod.Spec.HostNetwork, Overhead: pod.Spec.Overhead, Resources: pod.Spec.Resources,
	}
	for _, c := range pod.Spec.Containers {
		read.Containers = append(read.Containers, v1.Container{Ports: c.Ports, Resources: c.Resources})
	}
	for _, c := range pod.Spec.InitContainers {
		read.InitContainers = append(read.InitContainers, v1.Container{Ports: c.Ports, Resources: c.Resources, RestartPolicy: c.RestartPolicy})
	}
	text, err := json.Marshal([]any{of.ProfileName(), pod.Status.NominatedNodeName, read})
	if err != nil {
		return
	}
	v.pod = v.pods[string(text)]
	if len(v.pod) == nodes {
		return
	}
	v.kept += nodes - len(v.pod) + len(text)/keptBytes
	if v.kept > mostKept {
		clear(v.pods)
		v.kept = nodes + len(text)/keptBytes
	}
	v.pod = make([]nodeVerdict, nodes)
	v.pods[string(text)] = v.pod
}

// filter is what plugins say of the current pod on the node of a place: as before, or as filter says now.
func (v *nodeVerdicts) filter(of framework.Framework, place int, node fwk.NodeInfo, filter func() *fwk.Status) *fwk.Status {
	if place >= len(v.pod) || v.nominated.Load() && len(hooks.NominatedPods(of, node.Node().Name)) > 0 {
		return filter()
	}
	known := &v.pod[place]
	if known.generation == node.GetGeneration() && known.decided <= v.alone {
		return known.status
	}
	status := filter()
	filters := v.filters[of.ProfileName()]
	decided := len(filters)
	if status.IsRejected() {
		decided = 1 + slices.IndexFunc(filters, func(p config.Plugin) bool { return p.Name == status.Plugin() })
	}
	if 0 < decided && decided <= v.alone {
		*known = nodeVerdict{node.GetGeneration(), status, decided}
	}
	return status
}
