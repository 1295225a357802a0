// Package fit says whether workloads would fit a cluster: it makes their pods, as their
// controllers would, in a copy of it in memory, and has the real scheduler place them. It writes to no real cluster.
package fit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
)

// MostReplicas and MostNodes are how many replicas of a workload and how many further nodes
// are tried, at most.
const (
	MostReplicas = 10_000
	MostNodes    = 5_000
)

// Options say what is tried where.
type Options struct {
	engine.Options
	Manifests *Manifests
	// UntilFull adds replicas of the workloads in turn, beside the pods of the cluster, until no workload
	// has a node for another.
	UntilFull bool
	// GrowWith, if it is not nil, is a node, more of which are added until everything fits.
	GrowWith *v1.Node
	Name     string          // of the configuration, for the report
	Runs     int             // how often it is tried, with another seed each time. Less than 1 is 1
	Progress engine.Progress // may be nil
}

// Fit tries manifests in a copy of a cluster. Of several runs, it returns that with the worst result.
func Fit(ctx context.Context, o Options) (*Fitting, error) {
	began := time.Now()
	if o.UntilFull && slices.ContainsFunc(o.Manifests.workloads, func(w *Workload) bool { return w.Kind == "DaemonSet" }) {
		return nil, errors.New("how many replicas fit cannot be said of a DaemonSet, which has one on each node: leave it out")
	}
	if o.UntilFull && o.GrowWith != nil {
		return nil, errors.New("nodes are added until everything fits, or replicas until nothing does: choose one of the two")
	}
	try := func(e engine.Options, progress engine.Progress) (*Fitting, error) { return o.once(ctx, e, progress) }
	count := func(f *Fitting) int {
		n, _ := f.count()
		return n
	}
	worst, runs, err := engine.Worst(o.Options, o.Runs, o.Progress, try, count, (*Fitting).worse)
	if err != nil {
		return nil, err
	}
	worst.Basis.Config = o.Name
	worst.Basis.Runs = runs
	_, worst.Basis.Counts = worst.count()
	worst.Took = time.Since(began)
	return worst, nil
}

// once tries it with one seed.
func (o *Options) once(ctx context.Context, e engine.Options, progress engine.Progress) (*Fitting, error) {
	m := o.Manifests.clone()
	if o.UntilFull {
		m.disablePreemption()
	}
	e.PodGroups = e.PodGroups || len(m.objects.PodGroups) > 0
	copied, err := engine.New(ctx, e)
	if err != nil {
		return nil, err
	}
	defer copied.Close()
	f := &fitting{
		Engine: copied, manifests: m, progress: progress,
		found: Fitting{Workloads: m.workloads, Skipped: m.skipped, UntilFull: o.UntilFull},
	}
	if err := f.enter(ctx); err != nil {
		return nil, err
	}
	switch {
	case o.UntilFull:
		err = f.fill(ctx)
	case o.GrowWith != nil:
		err = f.grow(ctx, o.GrowWith)
	default:
		err = f.tryAll(ctx)
	}
	if err == nil && f.found.Tried == 0 {
		err = errors.New("nothing was tried: no replica is wanted, or there is no node for a DaemonSet")
	}
	f.found.Basis = f.Describe()
	return &f.found, err
}

// disablePreemption gives the pods of the workloads the lowest priority, and a policy to preempt no others.
func (m *Manifests) disablePreemption() {
	class := schedulingv1.PriorityClass{Value: -scheduling.HighestUserDefinablePriority, PreemptionPolicy: ptr.To(v1.PreemptNever)}
	class.Name = "preempts-no-pods"
	m.objects.PriorityClasses = append(m.objects.PriorityClasses, class)
	for _, w := range m.workloads {
		spec := &w.template.Spec
		spec.PriorityClassName, spec.Priority, spec.PreemptionPolicy = class.Name, nil, nil
	}
}

// fitting is an engine in which manifests are tried.
type fitting struct {
	*engine.Engine
	manifests *Manifests
	found     Fitting
	progress  engine.Progress
	residents map[types.NamespacedName]*v1.Pod // with their nodes, before anything is tried
	preempted map[types.NamespacedName]types.NamespacedName
}

// enter schedules the pending pods of the cluster, and makes what the pods of the manifests depend on.
func (f *fitting) enter(ctx context.Context) error {
	f.progress("schedules", 0, 0)
	if err := f.Run(ctx); err != nil {
		return err
	}
	f.residents = f.Residents()
	f.manifests.objects.NameClaims()
	f.manifests.objects.AddMissing()
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(&f.manifests.objects) {
			_, err := f.Create(ctx, o)
			if apierrors.IsAlreadyExists(err) {
				err = f.replace(ctx, o)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// replace has an object be as the manifests have it, but for claims, volumes and
// namespaces that are there: these stay.
func (f *fitting) replace(ctx context.Context, o cluster.Object) error {
	switch o.(type) {
	case *v1.PersistentVolumeClaim, *v1.PersistentVolume, *v1.Namespace, *v1.Node:
		return nil
	}
	return f.Replace(ctx, o)
}

// tryAll tries all pods of the manifests. Pods that these preempt are recreated, if a controller
// would do that.
func (f *fitting) tryAll(ctx context.Context) error {
	for name, pod := range f.residents {
		is := f.WorkloadOf(pod)
		at := slices.IndexFunc(f.found.Workloads, func(w *Workload) bool { return w.replaces(pod, is) })
		if at >= 0 {
			f.found.Workloads[at].Replaced++
			f.Delete(pod)
			delete(f.residents, name)
		}
	}
	for _, w := range f.found.Workloads {
		if err := f.more(ctx, w, w.replicas); err != nil {
			return err
		}
	}
	return f.schedule(ctx)
}

// schedule schedules, and sums up the result.
func (f *fitting) schedule(ctx context.Context) error {
	f.progress("schedules", 0, 0)
	if err := f.Run(ctx); err != nil {
		return err
	}
	preempted, err := f.Restore(ctx, f.residents)
	if err != nil {
		return err
	}
	maps.Copy(preempted, f.preempted) // who preempted them first
	f.preempted = preempted
	f.sum()
	return nil
}

// replaces reports whether a pod of the cluster belongs to a workload that the manifests have, too.
func (w *Workload) replaces(pod *v1.Pod, of cluster.Workload) bool {
	its := of == cluster.Workload{Kind: w.Kind, Name: w.Name} || w.Kind == "Pod" && w.Name == pod.Name
	return its && w.Namespace == pod.Namespace
}

// more makes so many more pods of a workload, or one for each node of a DaemonSet.
func (f *fitting) more(ctx context.Context, w *Workload, replicas int) error {
	if set, ok := w.object.(*appsv1.DaemonSet); ok {
		for _, node := range f.nodes() {
			if cluster.Daemon(set, node) != nil {
				w.nodes = append(w.nodes, node)
			}
		}
		replicas = len(w.nodes)
	}
	for made := 0; made < replicas && (len(w.nodes) == 0 || w.next < len(w.nodes)); w.next++ {
		pod, claims := w.pod(w.next)
		there := cluster.Get[*v1.Pod](f.Cluster, pod.Namespace, pod.Name)
		if there != nil && len(w.nodes) == 0 {
			continue
		}
		if there != nil {
			f.Delete(there) // of a node of the manifests
		}
		for i := range claims {
			_, err := f.Create(ctx, &claims[i])
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		if err := f.CreateInOrder(ctx, pod); err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
		w.pods = append(w.pods, cluster.NameOf(pod))
		made++
	}
	return nil
}

// nodes are the nodes of the cluster, by name.
func (f *fitting) nodes() []*v1.Node {
	nodes := cluster.All[*v1.Node](f.Cluster)
	slices.SortFunc(nodes, cluster.ByName)
	return nodes
}

// fill adds replicas of one workload after the other, more at a time as long as all find a
// node. A workload of which one finds none gets no more.
func (f *fitting) fill(ctx context.Context) error {
	left := slices.Clone(f.found.Workloads)
	for batch := 16; len(left) > 0; batch = min(2*batch, 512) {
		for range max(1, batch/len(left)) {
			for _, w := range left {
				if err := f.more(ctx, w, 1); err != nil {
					return err
				}
			}
		}
		if err := f.Run(ctx); err != nil {
			return err
		}
		f.sum()
		f.progress("adds replicas", f.found.Tried-f.found.Pending, 0)
		left = slices.DeleteFunc(left, func(w *Workload) bool { return len(w.Why) > 0 || len(w.pods) >= MostReplicas })
	}
	for _, w := range f.found.Workloads {
		w.full()
	}
	return nil
}

// full takes note of why there are no more of its pods.
func (w *Workload) full() {
	if len(w.Why) > 0 {
		w.Message = slices.Min(slices.Collect(maps.Keys(w.Why)))
	}
	w.Short = report.Lacking(w.Message)
	maps.DeleteFunc(w.Pods, func(_, node string) bool { return node == "" })
}
