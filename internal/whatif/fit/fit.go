// Package fit says whether workloads would fit a cluster: it makes their pods, as their
// controllers would, in a copy of it in memory, and has the real scheduler place them. It writes to no real cluster.
package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/capture"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// MostReplicas and MostNodes are how many replicas of a workload and how many further nodes
// are tried, at most.
const (
	MostReplicas = 10_000
	MostNodes    = 5_000
	// MostPods is what Kubernetes says that a cluster may have.
	MostPods = 150_000
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
	// IgnoreUnknown answers without objects of which it is not known whether they create pods.
	IgnoreUnknown bool
	Name          string          // of the configuration, for the report
	Runs          int             // how often it is tried, with another seed each time. Less than 1 is 1
	Progress      engine.Progress // may be nil
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
	if len(o.Manifests.unknown) > 0 && !o.IgnoreUnknown {
		return nil, fmt.Errorf("whether %s makes pods is not known, and it has no pod template to try: --ignore-unknown answers without it", report.Counted(o.Manifests.unknown))
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
	captured := e.Cluster.Source != nil && !e.Cluster.Source.Taken.IsZero()
	e.PodGroups = e.PodGroups || len(m.objects.PodGroups) > 0
	copied, err := engine.New(ctx, e)
	if err != nil {
		return nil, err
	}
	defer copied.Close()
	f := &fitting{
		Engine: copied, manifests: m, progress: progress,
		captured: captured, kept: map[types.NamespacedName]bool{},
		found: Fitting{Workloads: m.workloads, Skipped: m.skipped, Ignored: m.unknown, UntilFull: o.UntilFull},
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
	captured  bool                          // the cluster is a snapshot, which has not all of an object
	kept      map[types.NamespacedName]bool // of workloads that do not change
}

// enter schedules the pending pods of the cluster, and makes what the pods of the manifests depend on.
func (f *fitting) enter(ctx context.Context) error {
	f.progress("schedules", 0, 0)
	if err := f.Run(ctx); err != nil {
		return err
	}
	f.residents = f.Residents()
	f.manifests.objects.Complete()
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(&f.manifests.objects) {
			_, err := f.Create(ctx, o)
			if apierrors.IsAlreadyExists(err) {
				err = f.replace(ctx, o)
			}
			if rejected(err) {
				f.reject(o, err)
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// rejected reports whether an API server rejects an object: others are still answered.
func rejected(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err)
}

// reject takes note of an object that an API server rejects: the workload, or another one.
func (f *fitting) reject(o cluster.Object, err error) {
	for _, w := range f.found.Workloads {
		if w.owns(o) || w.owner.UID == o.GetUID() {
			w.rejected = cmp.Or(w.rejected, err) // not that of its ReplicaSet
			return
		}
	}
	f.found.Rejected = append(f.found.Rejected, err.Error())
}

// replace has an object be as the manifests have it, but for claims, volumes and
// namespaces that are there: these stay.
func (f *fitting) replace(ctx context.Context, o cluster.Object) error {
	switch o.(type) {
	case *v1.PersistentVolumeClaim, *v1.PersistentVolume, *v1.Namespace, *v1.Node:
		return nil
	}
	old := f.Current(o)
	replicas := replicasOf(o)
	if replicas != nil && *replicas == nil { // kubectl apply keeps what the manifest does not have
		*replicas = *replicasOf(old)
	}
	for _, w := range f.found.Workloads {
		if w.owns(o) {
			w.current = old
			w.unchanged = unchanged(old, o, f.captured)
			if replicas != nil {
				w.replicas = int(ptr.Deref(*replicas, 1))
			}
		}
	}
	return f.Replace(ctx, o)
}

// tryAll tries all pods of the manifests. Pods that these preempt are recreated, if a controller
// would do that.
func (f *fitting) tryAll(ctx context.Context) error {
	for name, pod := range f.residents {
		is := f.WorkloadOf(pod)
		at := slices.IndexFunc(f.found.Workloads, func(w *Workload) bool { return w.replaces(pod, is) })
		if at < 0 {
			continue
		}
		w := f.found.Workloads[at]
		if w.keeps(pod) {
			w.kept = append(w.kept, pod)
			continue
		}
		w.Replaced++
		f.Delete(pod)
		delete(f.residents, name)
	}
	wanted := 0
	for _, w := range f.found.Workloads {
		wanted += w.replicas
		if wanted > MostPods {
			return fmt.Errorf("%s wants %d replicas: a cluster of Kubernetes has at most %d pods", w, w.replicas, MostPods)
		}
		replicas := replicasOf(w.object)
		if replicas != nil && *replicas == nil && w.current == nil { // only its pods are known
			w.replicas = max(1, w.Replaced+len(w.kept))
		}
		f.keep(w)
		if err := f.more(ctx, w, w.replicas-len(w.kept)); err != nil {
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

// owns reports whether an object is the one of the workload.
func (w *Workload) owns(o cluster.Object) bool {
	return reflect.TypeOf(o) == reflect.TypeOf(w.object) && w.Namespace == o.GetNamespace() && w.Name == o.GetName()
}

// replaces reports whether a pod of the cluster belongs to a workload that the manifests have, too.
func (w *Workload) replaces(pod *v1.Pod, of cluster.Workload) bool {
	if w.Kind == "CronJob" || w.rejected != nil { // its pods are of an earlier time, or stay as they are
		return false
	}
	its := of == cluster.Workload{Kind: w.Kind, Name: w.Name} || w.Kind == "Pod" && w.Name == pod.Name
	return its && w.Namespace == pod.Namespace
}

// keeps reports whether a pod of a workload stays, since kubectl apply changes nothing of it: so it is with a workload
// whose template is the same, with sets that replace no pods, and with a pod that has all fields of the manifest.
func (w *Workload) keeps(pod *v1.Pod) bool {
	switch w.Kind {
	case "Pod":
		return equality.Semantic.DeepDerivative(w.template.Spec, pod.Spec)
	case "Job", "ReplicaSet", "ReplicationController":
		return true
	}
	return w.unchanged
}

// keep takes note of the pods that stay. The youngest of too many go.
func (f *fitting) keep(w *Workload) {
	slices.SortFunc(w.kept, cluster.ByAge)
	for w.Kind != "DaemonSet" && len(w.kept) > w.replicas {
		last := len(w.kept) - 1
		f.Delete(w.kept[last])
		delete(f.residents, cluster.NameOf(w.kept[last]))
		w.kept = w.kept[:last]
	}
	w.Kept = len(w.kept)
	for _, pod := range w.kept {
		w.pods = append(w.pods, cluster.NameOf(pod))
		f.kept[cluster.NameOf(pod)] = true
	}
}

// unchanged reports whether two objects have the same template. Of a snapshot, only what it keeps is compared.
func unchanged(old, o cluster.Object, captured bool) bool {
	var templates [2]*v1.PodTemplateSpec
	for i, one := range []cluster.Object{old, o} {
		one = one.DeepCopyObject().(cluster.Object)
		legacyscheme.Scheme.Default(one)
		templates[i] = snapshot.PodTemplate(one)
		if templates[i] == nil {
			return false
		}
		templates[i].Spec.DeprecatedServiceAccount = templates[i].Spec.ServiceAccountName
		if captured {
			capture.SlimTemplate(templates[i], regex.Default.Keys())
		}
	}
	return equality.Semantic.DeepEqual(templates[0], templates[1])
}

// more makes so many more pods of a workload, or one for each node of a DaemonSet.
func (f *fitting) more(ctx context.Context, w *Workload, replicas int) error {
	if set, ok := w.object.(*appsv1.DaemonSet); ok {
		for _, node := range f.nodes() {
			there := slices.ContainsFunc(w.kept, func(pod *v1.Pod) bool { return pod.Spec.NodeName == node.Name })
			if cluster.Daemon(set, node) != nil && !there {
				w.nodes = append(w.nodes, node)
			}
		}
		replicas = len(w.nodes)
	}
	for made := 0; made < replicas && (len(w.nodes) == 0 || w.next < len(w.nodes)); w.next++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		pod, claims := w.pod(w.next)
		there := cluster.Get[*v1.Pod](f.Cluster, pod.Namespace, pod.Name)
		if there != nil && len(w.nodes) == 0 {
			continue
		}
		if there != nil {
			f.Delete(there) // of a node of the manifests
		}
		made++
		err := w.rejected
		for i := range claims {
			if err == nil {
				_, err = f.Create(ctx, &claims[i])
			}
			if apierrors.IsAlreadyExists(err) {
				err = nil
			}
		}
		if err == nil {
			err = f.CreateInOrder(ctx, pod)
		}
		if rejected(err) {
			w.rejections[pod.Name] = strings.TrimPrefix(err.Error(), fmt.Sprintf("pods %q is forbidden: ", pod.Name))
		} else if err != nil {
			return fmt.Errorf("%s: %w", w, err)
		} else {
			w.pods = append(w.pods, cluster.NameOf(pod))
		}
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
		left = slices.DeleteFunc(left, func(w *Workload) bool { return len(w.Why) > 0 || len(w.Pods) >= MostReplicas })
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
