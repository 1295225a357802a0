package engine

import (
	"context"
	"encoding/json"
	"errors"
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
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// knownVerdicts remembers why pods were unschedulable: a pod that differs from one of them only in its
// name is unschedulable, too, as long as nothing was bound, preempted or freed. Then thousands of pending
// replicas cost little. It is only for plugins that are known not to read a pod's name: Kubernetes'
// own, and this project's. Signatures, by which kube-scheduler finds equal pods, do not help: with
// default constraints of PodTopologySpread, no pod has one.
type knownVerdicts struct {
	profiles map[string]bool // those with no other plugins, and no extenders
	progress int
	why      map[string]*verdict
	pod      string   // what the current pod is but for its name, or empty
	found    *verdict // what is known of it, or nil
}

type verdict struct {
	err        *framework.FitError
	postFilter *fwk.Status
}

// find returns what is known of a pod like this one, or nil.
func (v *knownVerdicts) find(of framework.Framework, pod *v1.Pod, progress int) *verdict {
	v.pod, v.found = "", nil
	if v.progress != progress || v.why == nil {
		v.progress, v.why = progress, map[string]*verdict{}
	}
	if !v.profiles[of.ProfileName()] || pod.Status.NominatedNodeName != "" || len(pod.Spec.ResourceClaims) > 0 || minor.PodGroupOf(pod) != "" {
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
	v.found = v.why[v.pod]
	return v.found
}

// newKnownVerdicts finds which profiles have no plugins that it does not know.
func newKnownVerdicts(sched *scheduler.Scheduler) knownVerdicts {
	return knownVerdicts{profiles: profilesOf(sched, inTree.Union(sets.New(plugin.Name)))}
}

// profilesOf says of each profile whether only plugins of some names decide on nodes, and no extender.
func profilesOf(sched *scheduler.Scheduler, names sets.Set[string]) map[string]bool {
	only := map[string]bool{}
	for name, of := range sched.Profiles {
		only[name] = len(sched.Extenders) == 0 && hasOnly(of, names)
	}
	return only
}

// inTree are the plugins of kube-scheduler's own.
var inTree = sets.KeySet(plugins.NewInTreeRegistry())

// hasOnly reports whether only plugins of some names decide on nodes.
func hasOnly(of framework.Framework, names sets.Set[string]) bool {
	all := of.ListPlugins()
	for _, point := range []config.PluginSet{all.PreFilter, all.Filter, all.PostFilter} {
		if slices.ContainsFunc(point.Enabled, func(p config.Plugin) bool { return !names.Has(p.Name) }) {
			return false
		}
	}
	return true
}

// noteIgnored takes note of pods with a regex where the configuration has nothing that may read it: only kube-scheduler's own
// plugins, and no extender.
func (e *Engine) noteIgnored(next hooks.SchedulePod) hooks.SchedulePod {
	unread := profilesOf(e.Scheduler, inTree)
	return func(ctx context.Context, of framework.Framework, state fwk.CycleState, queued *hooks.Queued) (scheduler.ScheduleResult, error) {
		pod := hooks.PodOf(queued)
		has := func(key string) bool { return pod.Annotations[key] != "" }
		if unread[of.ProfileName()] && slices.ContainsFunc(regex.Default.Keys(), has) {
			e.ignored.Insert(cluster.NameOf(pod).String())
		}
		return next(ctx, of, state, queued)
	}
}

// Ignored are the pods that were tried without their regex, which no plugin reads.
func (e *Engine) Ignored() []string { return sets.List(e.ignored) }

// keep remembers what PostFilter said of a pod that is unschedulable, unless it made room.
func (v *knownVerdicts) keep(err *framework.FitError, result *fwk.PostFilterResult, status *fwk.Status) {
	if v.pod != "" && err != nil && status.IsRejected() && (result == nil || result.NominatingInfo == nil || result.NominatedNodeName == "") {
		v.why[v.pod] = &verdict{err, status}
	}
}

// scheduleByVerdict answers for a pod like one before it.
func (e *Engine) scheduleByVerdict(next hooks.SchedulePod) hooks.SchedulePod {
	return func(ctx context.Context, of framework.Framework, state fwk.CycleState, pod *hooks.Queued) (scheduler.ScheduleResult, error) {
		is := hooks.PodOf(pod)
		known := e.verdicts.find(of, is, e.progress+e.freed)
		if known != nil {
			return scheduler.ScheduleResult{}, &framework.FitError{Pod: is, NumAllNodes: known.err.NumAllNodes, Diagnosis: known.err.Diagnosis}
		}
		result, err := next(ctx, of, state, pod)
		e.unfit = nil
		errors.As(err, &e.unfit)
		return result, err
	}
}
