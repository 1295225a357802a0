package engine

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/whatif/cluster"
)

// alike remembers why pods were unschedulable: a pod that differs from one of them only in its
// name and the names of its claims is unschedulable, too, as long as nothing was bound or preempted. Then thousands of
// pending pods cost little. It is for plugins of which it is known that names do not matter to
// them: Kubernetes' own, and this project's. Signatures, by which kube-scheduler tells pods
// that are alike, are of no use: with default constraints of PodTopologySpread, no pod has one.
type alike struct {
	of       *cluster.Cluster
	profiles map[string]bool // those with no other plugins, and no extenders
	progress int
	why      map[string]*verdict
	asked    string   // what the current pod is but for its name, or empty
	same     *verdict // what is known of it, or nil
}

type verdict struct {
	err        *framework.FitError
	postFilter *fwk.Status
}

// look returns what is known of a pod like this one, or nil.
func (a *alike) look(of framework.Framework, pod *v1.Pod, progress int) *verdict {
	a.asked, a.same = "", nil
	if a.progress != progress || a.why == nil {
		a.progress, a.why = progress, map[string]*verdict{}
	}
	if !a.profiles[of.ProfileName()] || pod.Status.NominatedNodeName != "" || len(pod.Spec.ResourceClaims) > 0 || minor.PodGroupOf(pod) != "" {
		return nil
	}
	spec, claims, ok := a.claims(pod)
	labels := maps.Clone(pod.Labels)
	for _, number := range []string{appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel} {
		delete(labels, number)
	}
	text, err := json.Marshal([]any{pod.Namespace, labels, pod.Annotations, pod.OwnerReferences, spec, claims})
	if err != nil || !ok {
		return nil
	}
	a.asked = string(text)
	a.same = a.why[a.asked]
	return a.same
}

// claims are what the claims of a pod are like, and its spec without their names. It is
// not ok if more than that counts.
func (a *alike) claims(pod *v1.Pod) (spec *v1.PodSpec, like []any, ok bool) {
	spec = &pod.Spec
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if volume.Ephemeral != nil {
			return nil, nil, false
		}
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim := cluster.Get[*v1.PersistentVolumeClaim](a.of, pod.Namespace, volume.PersistentVolumeClaim.ClaimName)
		if claim == nil || slices.Contains(claim.Spec.AccessModes, v1.ReadWriteOncePod) {
			return nil, nil, false
		}
		is := claim.Spec
		is.VolumeName = ""
		like = append(like, is, claim.Status.Phase)
		if bound := cluster.Get[*v1.PersistentVolume](a.of, "", claim.Spec.VolumeName); bound != nil {
			like = append(like, bound.Spec.NodeAffinity, bound.Spec.CSI == nil)
		}
		if spec == &pod.Spec {
			spec = pod.Spec.DeepCopy()
		}
		spec.Volumes[i].PersistentVolumeClaim.ClaimName = ""
	}
	spec = ptr.To(*spec)
	spec.Hostname = "" // which is that of its StatefulSet's pods
	return spec, like, true
}

// newAlike looks which profiles have no plugins that it does not know.
func newAlike(sched *scheduler.Scheduler, of *cluster.Cluster) alike {
	a := alike{of: of, profiles: map[string]bool{}}
	known := sets.KeySet(plugins.NewInTreeRegistry()).Insert(plugin.Name)
	for name, of := range sched.Profiles {
		all := of.ListPlugins()
		strange := len(sched.Extenders) > 0
		for _, point := range []config.PluginSet{all.PreFilter, all.Filter, all.PostFilter} {
			strange = strange || slices.ContainsFunc(point.Enabled, func(p config.Plugin) bool { return !known.Has(p.Name) })
		}
		a.profiles[name] = !strange
	}
	return a
}

// keep remembers what PostFilter said of a pod that is unschedulable, unless it made room.
func (a *alike) keep(err *framework.FitError, result *fwk.PostFilterResult, status *fwk.Status) {
	if a.asked != "" && err != nil && status.IsRejected() && (result == nil || result.NominatingInfo == nil || result.NominatedNodeName == "") {
		a.why[a.asked] = &verdict{err, status}
	}
}

// scheduleAlike answers for a pod like one before it.
func (e *Engine) scheduleAlike(next hooks.SchedulePod) hooks.SchedulePod {
	return func(ctx context.Context, of framework.Framework, state fwk.CycleState, pod *hooks.Queued) (scheduler.ScheduleResult, error) {
		is := hooks.PodOf(pod)
		if known := e.alike.look(of, is, e.progress); known != nil {
			return scheduler.ScheduleResult{}, &framework.FitError{Pod: is, NumAllNodes: known.err.NumAllNodes, Diagnosis: known.err.Diagnosis}
		}
		result, err := next(ctx, of, state, pod)
		e.unfit = nil
		errors.As(err, &e.unfit)
		return result, err
	}
}
