package fit

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
)

// Rollout applies manifests as [Fit] does, and says of each workload whether its rollout ends, with a time line.
func Rollout(ctx context.Context, o Options) (*Fitting, error) {
	o.rollout = true
	return Fit(ctx, o)
}

// stop takes note of why the rollout of a workload does not end, if that is so.
func (f *fitting) stop(w *Workload) {
	w.Stuck = ""
	o := f.Current(w.object)
	if w.rejected != nil || o == nil {
		return
	}
	old := 0
	for _, pod := range cluster.In[*v1.Pod](f.Cluster, w.Namespace) {
		_, isNew := w.Pods[pod.Name]
		if f.makes(w, pod) && pod.DeletionTimestamp == nil && !isNew {
			old++
		}
	}
	if old == 0 && len(w.Why) == 0 {
		return
	}
	w.Stuck = report.Plural(old, "pod") + " of the old revision left"
	advice := advice(o, old)
	if advice != "" {
		w.Stuck += "; " + advice
	}
}

// advice is which field would let a rollout go on.
func advice(o cluster.Object, old int) string {
	d, ok := o.(*appsv1.Deployment)
	if !ok || old == 0 {
		return ""
	}
	update := d.Spec.Strategy.RollingUpdate
	replicas := int(ptr.Deref(d.Spec.Replicas, 1))
	if d.Spec.Paused || d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType || update == nil {
		return ""
	}
	return fmt.Sprintf("with a maxUnavailable above %s, old pods of its %d would make room", update.MaxUnavailable, replicas)
}

// sentence is the answer to whether rollouts end.
func (f *Fitting) sentence() string {
	var stuck []string
	for _, w := range f.Workloads {
		if w.Stuck != "" || len(w.Why) > 0 {
			stuck = append(stuck, w.String())
		}
	}
	switch {
	case len(stuck) == 0:
		return "The rollout of " + report.Plural(len(f.Workloads), "workload") + " would end"
	case len(stuck) == 1:
		return "The rollout of " + stuck[0] + " would not end"
	}
	return "The rollouts of " + strings.Join(stuck, ", ") + " would not end"
}
