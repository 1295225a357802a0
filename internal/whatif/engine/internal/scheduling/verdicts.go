package scheduling

import (
	"encoding/json"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
)

// knownVerdicts keeps why pods are unschedulable. A pod that differs from one of them only in its name is unschedulable, too, until
// a pod is bound, preempted or released: thousands of pending replicas cost little. It is only for plugins that do not read a
// pod's name: Kubernetes' own, and this project's. Signatures, by which kube-scheduler finds equal pods, do not help: with the
// default constraints of PodTopologySpread, no pod has one.
type knownVerdicts struct {
	profiles map[string]bool // those with only such plugins, and no extenders
	changes  int             // as of byPod
	byPod    map[string]*verdict

	// Of the current attempt:
	pod      string              // the pod without its name, or empty if it is not to be kept
	known    *verdict            // or nil
	fitError *framework.FitError // or nil
	against  Against             // as fitError says
	notNamed string              // as [naming.NotNamed] says
}

type verdict struct {
	err        *framework.FitError
	against    Against
	postFilter *fwk.Status
}

// find returns the verdict on a pod like this one, or nil. A recorder gets each attempt that it wants.
func (v *knownVerdicts) find(of framework.Framework, pod *v1.Pod, changes int, recorded bool) *verdict {
	v.pod = ""
	v.known = nil
	if v.changes != changes || v.byPod == nil {
		v.changes = changes
		v.byPod = map[string]*verdict{}
	}
	if recorded || !v.profiles[of.ProfileName()] || pod.Status.NominatedNodeName != "" || len(pod.Spec.ResourceClaims) > 0 || minor.PodGroupOf(pod) != "" {
		return nil
	}
	own := func(volume v1.Volume) bool { return volume.PersistentVolumeClaim != nil || volume.Ephemeral != nil }
	if slices.ContainsFunc(pod.Spec.Volumes, own) {
		return nil
	}
	text, err := json.Marshal([]any{pod.Namespace, pod.Labels, pod.Annotations, pod.OwnerReferences, pod.Spec})
	if err != nil {
		return nil
	}
	v.pod = string(text)
	v.known = v.byPod[v.pod]
	return v.known
}

// keep keeps the verdict on the current pod, unless preemption has found it a node.
func (v *knownVerdicts) keep(result *fwk.PostFilterResult, status *fwk.Status) {
	if v.pod != "" && v.fitError != nil && status.IsRejected() && (result == nil || result.NominatingInfo == nil || result.NominatedNodeName == "") {
		v.byPod[v.pod] = &verdict{v.fitError, v.against, status}
	}
}

// inTree are kube-scheduler's own plugins.
var inTree = sets.KeySet(plugins.NewInTreeRegistry())

// profilesWithOnly says of each profile whether only some plugins decide on nodes, and no extender.
func profilesWithOnly(sched *scheduler.Scheduler, plugins sets.Set[string]) map[string]bool {
	only := map[string]bool{}
	for name, of := range sched.Profiles {
		all := of.ListPlugins()
		enabled := slices.Concat(all.PreFilter.Enabled, all.Filter.Enabled, all.PostFilter.Enabled)
		other := slices.ContainsFunc(enabled, func(p config.Plugin) bool { return !plugins.Has(p.Name) })
		only[name] = len(hooks.Extenders(sched)) == 0 && !other
	}
	return only
}
