package fit

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// Rollout applies manifests as [Fit] does, and says of each workload whether its rollout ends, with a time line.
func Rollout(ctx context.Context, o Options) (*Fitting, error) {
	o.rollout = true
	return Fit(ctx, o)
}

// settleRollouts runs until nothing changes any more: a rollout may take longer than the horizon of a run.
func (f *fitting) settleRollouts(ctx context.Context) error {
	const mostRuns = 24
	for range mostRuns {
		version := f.engine.Cluster.Version()
		err := f.engine.Run(ctx)
		if err != nil || f.engine.Cluster.Version() == version {
			return err
		}
	}
	return nil
}

// stop takes note of why rollouts do not end.
func (f *fitting) stop(ctx context.Context) error {
	f.timeline.End()
	f.found.Timeline = f.timeline
	was := map[*Workload]Workload{}
	for _, w := range f.found.Workloads {
		w.Stuck = f.left(w)
		was[w] = *w
	}
	found := f.found
	for _, w := range found.Workloads {
		if was[w].Stuck == "" || was[w].Stuck == rejectedPods || w.Unchanged != "" {
			continue
		}
		advice, err := f.advice(ctx, w)
		if err != nil {
			return err
		}
		stuck := was[w]
		stuck.Stuck += "; " + advice
		was[w] = stuck
	}
	f.found = found
	for w, is := range was {
		*w = is
	}
	return nil
}

// rejectedPods is why a rollout does not end that no remedy helps: with no pod of the old revision left, pods are rejected.
const rejectedPods = "the API server rejects pods, which neither its update strategy nor a further node changes"

// left is what the rollout of a workload leaves undone, or empty.
func (f *fitting) left(w *Workload) string {
	o := f.engine.Cluster.Current(w.object)
	if w.rejected != nil || o == nil {
		return ""
	}
	if w.Unchanged != "" {
		return "the API server rejects the change"
	}
	old := outdated(o) - partitioned(o)
	lacking := len(w.Why) + len(w.NotCreated)
	if w.InTurn {
		lacking = 0
	}
	if old <= 0 && lacking == 0 {
		return ""
	}
	if old <= 0 && len(w.Why) == 0 {
		return rejectedPods
	}
	text := report.Plural(max(0, old), "pod") + " of the old revision left"
	if w.Kind == "Deployment" && lacking == 0 {
		text += ", since " + f.missing(w)
	}
	return text
}

// outdated is how many pods of an older revision a workload has, as its controller has counted them.
func outdated(o cluster.Object) int {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return int(o.Status.Replicas - o.Status.UpdatedReplicas)
	case *appsv1.StatefulSet:
		return int(o.Status.Replicas - o.Status.UpdatedReplicas)
	case *appsv1.DaemonSet:
		return int(o.Status.CurrentNumberScheduled - o.Status.UpdatedNumberScheduled)
	}
	return 0
}

// partitioned is how many of these a StatefulSet is to keep.
func partitioned(o cluster.Object) int {
	set, ok := o.(*appsv1.StatefulSet)
	if !ok || set.Spec.UpdateStrategy.RollingUpdate == nil {
		return 0
	}
	return min(int(ptr.Deref(set.Spec.UpdateStrategy.RollingUpdate.Partition, 0)), outdated(o))
}

// remedy is a change that may let a rollout go on.
type remedy struct {
	says  string
	apply func(context.Context, *fitting) error
}

// advice is the first field that lets a rollout go on, and whether room does: each is tried.
func (f *fitting) advice(ctx context.Context, w *Workload) (string, error) {
	var helps []string
	for _, one := range append(fields(f.engine.Cluster.Current(w.object)), f.room(w)...) {
		undo, _ := f.engine.Try()
		err := one.apply(ctx, f)
		if err == nil {
			err = f.settleRollouts(ctx)
		}
		if err == nil {
			f.sum()
			if f.left(w) == "" {
				helps = append(helps, one.says)
			}
		}
		undo()
		if err != nil && !cluster.IsRejection(err) {
			return "", err
		}
	}
	if len(helps) == 0 {
		return "no field of its update strategy and no further node would let it end", nil
	}
	return "it would end with " + strings.Join(helps, ", or with "), nil
}

// fields are the remedies that change a workload.
func fields(o cluster.Object) (all []remedy) {
	change := func(says string, set func(cluster.Object)) {
		all = append(all, remedy{says, func(_ context.Context, f *fitting) error {
			changed := f.engine.Cluster.Current(o).DeepCopyObject().(cluster.Object)
			set(changed)
			return f.engine.Cluster.Update(changed)
		}})
	}
	number := func(of *intstr.IntOrString, replicas int32, up bool) int {
		n, _ := intstr.GetScaledValueFromIntOrPercent(ptr.To(ptr.Deref(of, intstr.FromInt32(0))), int(replicas), up) // which was validated
		return n
	}
	switch o := o.(type) {
	case *appsv1.Deployment:
		update := o.Spec.Strategy.RollingUpdate
		if update == nil {
			break
		}
		replicas := ptr.Deref(o.Spec.Replicas, 1)
		unavailable, surge := number(update.MaxUnavailable, replicas, false)+1, number(update.MaxSurge, replicas, true)+1
		change(fmt.Sprint("maxUnavailable: ", unavailable), func(o cluster.Object) {
			o.(*appsv1.Deployment).Spec.Strategy.RollingUpdate.MaxUnavailable = ptr.To(intstr.FromInt(unavailable))
		})
		change(fmt.Sprint("maxSurge: ", surge), func(o cluster.Object) {
			o.(*appsv1.Deployment).Spec.Strategy.RollingUpdate.MaxSurge = ptr.To(intstr.FromInt(surge))
		})
		change("type: Recreate", func(o cluster.Object) {
			o.(*appsv1.Deployment).Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		})
	case *appsv1.StatefulSet:
		if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
			change("type: RollingUpdate", func(o cluster.Object) {
				o.(*appsv1.StatefulSet).Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
					Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](0)},
				}
			})
		}
	case *appsv1.DaemonSet:
		says := "maxSurge: 0 and maxUnavailable: 1"
		if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
			says = "type: RollingUpdate"
		}
		change(says, func(o cluster.Object) {
			o.(*appsv1.DaemonSet).Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: ptr.To(intstr.FromInt32(0)), MaxUnavailable: ptr.To(intstr.FromInt32(1))},
			}
		})
	}
	return all
}

// room is the remedy of another node like the first on which a pod of the workload runs, or like the first.
func (f *fitting) room(w *Workload) []remedy {
	nodes := f.nodes()
	if len(nodes) == 0 {
		return nil
	}
	like := nodes[0]
	for _, pod := range w.ran {
		node := cluster.Get[*v1.Node](f.engine.Cluster, "", pod.Spec.NodeName)
		if node != nil {
			like = node
			break
		}
	}
	return []remedy{{"one more node like " + like.Name, func(ctx context.Context, f *fitting) error { return f.add(ctx, like, 1) }}}
}

// sentence is the answer to whether rollouts end.
func (f *Fitting) sentence() string {
	var stuck []string
	for _, w := range f.Workloads {
		if w.Stuck != "" || len(w.Why)+len(w.NotCreated) > 0 && !w.InTurn {
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
