// Package fit says whether workloads would fit a cluster: it makes their pods, as their
// controllers would, in a copy of it in memory, and has the real scheduler place them.
//
// It is no API. It reads manifests and writes a report; the cluster that was copied is
// never written to, and which one that is its callers know.
package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/whatif/engine"
)

// MostReplicas is how many are tried, at most, to see how many fit.
const MostReplicas = 10_000

// Options say what is tried where.
type Options struct {
	engine.Options
	Manifests *Manifests // are used up
	// UntilFull adds replicas of the workload to those that it has, until one finds no node.
	UntilFull bool
	// Progress is told how far it is. It may be nil.
	Progress func(step string, done, of int)
}

// Fit tries manifests in a copy of a cluster.
func Fit(ctx context.Context, o Options) (*Fitting, error) {
	m := o.Manifests
	f := &fitting{Manifests: m, Fitting: Fitting{Workloads: m.workloads, LeftOut: m.leftOut, UntilFull: o.UntilFull}}
	do := f.tryAll
	if o.UntilFull {
		if do = f.fill; len(m.workloads) != 1 || m.workloads[0].Kind == "DaemonSet" {
			return nil, errors.New("how many replicas fit can be said of one workload, and of no DaemonSet")
		}
		m.preemptNobody()
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	o.PodGroups = o.PodGroups || len(m.objects.PodGroups) > 0
	began := time.Now()
	var err error
	if f.Engine, err = engine.New(ctx, o.Options); err != nil {
		return nil, err
	}
	defer f.Close()
	f.progress = o.Progress
	if err = f.enter(ctx); err == nil {
		err = do(ctx)
	}
	f.NotModelled = f.Engine.NotModelled()
	if f.Took = time.Since(began); err == nil && f.Tried == 0 {
		err = errors.New("nothing was tried: no replica is wanted, or there is no node for a DaemonSet")
	}
	if err != nil {
		return nil, err
	}
	return &f.Fitting, nil
}

// preemptNobody has the pods of the workload come last, and wait rather than preempt others.
func (m *Manifests) preemptNobody() {
	class := schedulingv1.PriorityClass{Value: -scheduling.HighestUserDefinablePriority, PreemptionPolicy: ptr.To(v1.PreemptNever)}
	class.Name = "preempts-nobody"
	m.objects.PriorityClasses = append(m.objects.PriorityClasses, class)
	spec := &m.workloads[0].template.Spec
	spec.PriorityClassName, spec.Priority, spec.PreemptionPolicy = class.Name, nil, nil
}

type fitting struct {
	Fitting
	*Manifests
	*engine.Engine
	progress  func(step string, done, of int)
	residents map[types.NamespacedName]*v1.Pod // with their nodes, before anything is tried
	preempted map[types.NamespacedName]types.NamespacedName
}

// enter schedules what waits in the cluster, and makes what the pods of the manifests depend on.
func (f *fitting) enter(ctx context.Context) error {
	f.progress("schedules", 0, 0)
	if err := f.Run(ctx); err != nil {
		return err
	}
	f.residents = f.Residents()
	f.objects.Complete()
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(&f.objects) {
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

// tryAll tries all pods of the manifests. Those that they preempt are recreated, if
// something would do that.
func (f *fitting) tryAll(ctx context.Context) error {
	for name, pod := range f.residents {
		is := f.WorkloadOf(pod)
		at := slices.IndexFunc(f.workloads, func(w *Workload) bool { return w.replaces(pod, is) })
		if at >= 0 {
			f.workloads[at].Replaced++
			f.Delete(pod)
			delete(f.residents, name)
		}
	}
	for _, w := range f.workloads {
		if err := f.more(ctx, w, w.replicas); err != nil {
			return err
		}
	}
	f.progress("schedules", 0, 0)
	err := f.Run(ctx)
	if err == nil {
		f.preempted, err = f.Restore(ctx, f.residents)
	}
	if err == nil {
		f.tell()
	}
	return err
}

// replaces is true of a pod that belongs to what the manifests have, too.
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
		if there := cluster.Get[*v1.Pod](f.Cluster, pod.Namespace, pod.Name); there != nil {
			if len(w.nodes) == 0 {
				continue
			}
			f.Delete(there) // of a node of the manifests
		}
		for i := range claims {
			if _, err := f.Create(ctx, &claims[i]); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		if _, err := f.Create(ctx, pod); err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
		w.pods = append(w.pods, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		made++
	}
	return nil
}

// nodes are those of the cluster, by name.
func (f *fitting) nodes() []*v1.Node {
	nodes := cluster.All[*v1.Node](f.Cluster)
	slices.SortFunc(nodes, func(a, b *v1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return nodes
}

// fill adds replicas, more at a time as long as all find a node, until one finds none.
func (f *fitting) fill(ctx context.Context) error {
	w := f.workloads[0]
	for batch := 16; f.Waiting == 0 && len(w.Pods) < MostReplicas; batch = min(2*batch, 512) {
		if err := f.more(ctx, w, min(batch, MostReplicas-len(w.Pods))); err != nil {
			return err
		}
		if err := f.Run(ctx); err != nil {
			return err
		}
		f.tell()
		f.progress("adds replicas", w.Fit, 0)
	}
	if len(w.Why) > 0 {
		f.Message = slices.Min(slices.Collect(maps.Keys(w.Why)))
	}
	for _, found := range short.FindAllStringSubmatch(f.Message, -1) {
		f.Short = append(f.Short, cmp.Or(found[1], "pods"))
	}
	maps.DeleteFunc(w.Pods, func(_, node string) bool { return node == "" })
	return nil
}

// short finds what a message of the scheduler's says too little is left of.
var short = regexp.MustCompile(`Insufficient ([^\s,]*[^\s,.])|Too many pods`)
