// Package fit says whether workloads would fit a cluster: it makes their pods, as their
// controllers would, in a copy of it in memory, and has the real scheduler place them. It writes to no real cluster.
package fit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/timeline"
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
	// IgnoreUnknown answers without objects of which it is not known whether they create pods.
	IgnoreUnknown bool
	// Replace has manifests take the place of what is there, as kubectl replace does, and not be merged into it.
	Replace  bool
	Runs     int             // how often it is tried, with another seed each time. Less than 1 is 1
	Progress engine.Progress // may be nil

	rollout bool
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
	wanted := 0
	for _, w := range o.Manifests.workloads {
		wanted += w.asked()
		if wanted > cluster.MostPods {
			return nil, fmt.Errorf("%s wants %d replicas: a cluster of Kubernetes has at most %d pods", w, w.asked(), cluster.MostPods)
		}
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
	e.Workloads = engine.Workloads
	if e.Cluster.Source != nil {
		if err := m.digest(e.Cluster.Source.Digests); err != nil {
			return nil, err
		}
	}
	e.PodGroups = e.PodGroups || len(m.objects.PodGroups) > 0
	copied, err := engine.New(ctx, e)
	if err != nil {
		return nil, err
	}
	defer copied.Close()
	f := &fitting{
		engine: copied, manifests: m, progress: progress, replace: o.Replace,
		found: Fitting{Workloads: m.workloads, Skipped: m.skipped, Ignored: m.unknown, Repeated: m.repeated, UntilFull: o.UntilFull},
	}
	if err := f.enter(ctx); err != nil {
		return nil, err
	}
	if o.rollout {
		f.found.Rollout = true
		f.timeline, err = f.engine.Record()
		if err != nil {
			return nil, err
		}
	}
	switch {
	case o.UntilFull:
		err = f.fill(ctx)
	case o.GrowWith != nil:
		err = f.grow(ctx, o.GrowWith)
	default:
		err = f.tryAll(ctx)
	}
	if err != nil {
		return nil, err
	}
	f.lacks()
	f.found.Basis = f.engine.Describe()
	return &f.found, nil
}

// lacks takes note of what could change the result if the input lacks it.
func (f *fitting) lacks() {
	var pending, tried []*v1.Pod
	noClass := false
	for _, w := range f.found.Workloads {
		noClass = noClass || w.podSpec().PriorityClassName == ""
		if len(w.NotCreated) > 0 {
			pending = append(pending, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}, Spec: *w.podSpec()})
		}
		for _, name := range f.podsOf(w) {
			pod := cluster.Get[*v1.Pod](f.engine.Cluster, name.Namespace, name.Name)
			if pod == nil {
				continue
			}
			tried = append(tried, pod)
			if pod.Spec.NodeName == "" {
				pending = append(pending, pod)
			}
		}
	}
	f.engine.LacksFor(pending)
	if len(f.found.Preempted) > 0 {
		f.engine.LacksForPreemption()
	}
	if f.found.Growth != nil {
		f.engine.Lacks("those would have a pod on each new node, and take room there", "DaemonSet")
	}
	f.engine.Lacks("a quota may reject the new pods, and a LimitRange may change what they request", "ResourceQuota", "LimitRange")
	f.engine.LacksForNamespaces("one may reject the new pods", tried, "ResourceQuota")
	f.engine.LacksForNamespaces("one may change what the new pods request", tried, "LimitRange")
	if noClass {
		f.engine.Lacks("one may be the default, and change which of the new pods preempt others", "PriorityClass")
	}
	f.engine.Lacks("a label of one may enforce a Pod Security Standard, which rejects new pods", "Namespace")
	f.engine.LacksForNodes(tried)
}

// disablePreemption gives the pods of the workloads the lowest priority, and a policy to preempt no others.
func (m *Manifests) disablePreemption() {
	class := schedulingv1.PriorityClass{Value: -scheduling.HighestUserDefinablePriority, PreemptionPolicy: ptr.To(v1.PreemptNever)}
	class.Name = "preempts-no-pods"
	m.objects.PriorityClasses = append(m.objects.PriorityClasses, class)
	for _, w := range m.workloads {
		d, isDeployment := w.object.(*appsv1.Deployment)
		if isDeployment {
			d.Spec.Paused = false // or none would be added
		}
		spec := w.podSpec()
		spec.PriorityClassName, spec.Priority, spec.PreemptionPolicy = class.Name, nil, nil
	}
}

// fitting is an engine in which manifests are tried.
type fitting struct {
	engine    *engine.Engine
	manifests *Manifests
	found     Fitting
	progress  engine.Progress
	before    *engine.Pods          // before anything is tried
	adopted   map[types.UID]*v1.Pod // pods of before that had no owner, as controllers have adopted them
	timeline  *timeline.Timeline    // nil if it is not asked for
	replace   bool                  // manifests take the place of what is there
}

// enter schedules the pending pods of the cluster, and makes what the pods of the manifests depend on.
func (f *fitting) enter(ctx context.Context) error {
	f.progress("schedules", 0, 0)
	if err := f.engine.RunBeforeQuestion(ctx); err != nil {
		return err
	}
	f.before = f.engine.Pods()
	f.adopted = map[types.UID]*v1.Pod{}
	_, err := f.engine.Cluster.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, now any) {
		pod := now.(*v1.Pod)
		if metav1.GetControllerOf(old.(*v1.Pod)) == nil && metav1.GetControllerOf(pod) != nil && f.before.Has(pod) {
			f.adopted[pod.UID] = pod
		}
	}})
	if err != nil {
		return err
	}
	objects := &f.manifests.objects
	given := sets.New[string]()
	for _, namespace := range objects.Namespaces {
		given.Insert(namespace.Name)
	}
	for _, w := range f.manifests.workloads {
		objects.Namespaces = append(objects.Namespaces, v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}})
	}
	objects.NameClaims()
	objects.AddMissing()
	for _, kind := range snapshot.Kinds {
		for o := range kind.All(objects) {
			there := f.engine.Cluster.Current(o) != nil
			if there && o.GetAnnotations()[v1.LastAppliedConfigAnnotation] == "" { // it is of no manifest
				continue
			}
			if !there && kind.Kind == "Namespace" && !given.Has(o.GetName()) {
				f.found.Namespaces = append(f.found.Namespaces, o.GetName())
			}
			_, err := f.put(ctx, o)
			if cluster.IsRejection(err) {
				f.found.Rejected = append(f.found.Rejected, err.Error())
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// put has an object be as the manifests have it, as kubectl apply does, or kubectl replace.
func (f *fitting) put(ctx context.Context, o cluster.Object) (kept []string, err error) {
	if f.replace && f.engine.Cluster.Current(o) != nil {
		return nil, f.engine.Cluster.Update(o)
	}
	return f.engine.Cluster.Apply(ctx, o)
}

// tryAll applies all workloads of the manifests. What is there and is not changed stays as it is, and what is changed is
// rolled out by its controller.
func (f *fitting) tryAll(ctx context.Context) error {
	for _, w := range f.found.Workloads {
		w.ran = slices.DeleteFunc(slices.Clone(f.before.Placed), func(pod *v1.Pod) bool { return !f.makes(w, pod) })
		err := f.apply(ctx, w)
		now := f.engine.Cluster.Current(w.object)
		switch {
		case cluster.IsRejection(err) && now != nil && (w.Kind != "Pod" || now.GetDeletionTimestamp() == nil):
			w.Unchanged = err.Error()
			if w.Kind == "Pod" {
				w.bare = append(w.bare, cluster.NameOf(w.object))
			}
		case cluster.IsRejection(err):
			w.rejected = err
		case err != nil:
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	return f.schedule(ctx)
}

// apply applies a workload. A Pod that differs is deleted first if it is to be replaced.
func (f *fitting) apply(ctx context.Context, w *Workload) (err error) {
	for _, o := range w.earlier {
		_, err := f.put(ctx, o.DeepCopyObject().(cluster.Object))
		if cluster.IsRejection(err) {
			f.found.Rejected = append(f.found.Rejected, err.Error())
		} else if err != nil {
			return err
		}
	}
	pod, isPod := w.object.(*v1.Pod)
	if !isPod {
		w.KeptFields, err = f.put(ctx, w.object.DeepCopyObject().(cluster.Object))
		return err
	}
	for w.replicas < w.asked() {
		there, _ := f.engine.Cluster.Current(pod).(*v1.Pod)
		if there != nil && !w.Unknown && (!f.replace || equality.Semantic.DeepDerivative(pod.Spec, there.Spec)) {
			_, err := f.engine.Cluster.Apply(ctx, pod.DeepCopy())
			now, _ := f.engine.Cluster.Current(pod).(*v1.Pod)
			if err == nil && now == nil { // it was terminating, and the manifest has no finalizer any more
				continue
			}
			if err == nil {
				w.bare = append(w.bare, cluster.NameOf(pod))
				w.ChangedInPlace = !equality.Semantic.DeepEqual(there.Spec, now.Spec)
			}
			return err
		}
		if there != nil {
			f.engine.Cluster.Delete(there)
		}
		w.replicas++
		if err := f.addPod(ctx, w, pod.DeepCopy(), w.replicas-1); err != nil {
			return err
		}
	}
	return nil
}

// schedule schedules, and sums up the result.
func (f *fitting) schedule(ctx context.Context) error {
	f.progress("schedules", 0, 0)
	if f.timeline == nil {
		if err := f.engine.Run(ctx); err != nil {
			return err
		}
		f.sum()
		return nil
	}
	if err := f.settleRollouts(ctx); err != nil {
		return err
	}
	f.sum()
	return f.stop(ctx)
}

// nodes are the nodes of the cluster, by name.
func (f *fitting) nodes() []*v1.Node {
	nodes := cluster.All[*v1.Node](f.engine.Cluster)
	slices.SortFunc(nodes, cluster.ByName)
	return nodes
}

// fill adds replicas of one workload after the other, more at a time as long as all find a
// node, and at once where one workload alone is left. A workload of which one finds none gets no more.
func (f *fitting) fill(ctx context.Context) error {
	for _, w := range f.found.Workloads {
		for f.engine.Cluster.Current(w.object) != nil { // what runs stays
			w.Name += "-more"
			w.object.SetName(w.Name)
		}
	}
	left := slices.Clone(f.found.Workloads)
	for batch := 16; len(left) > 0; batch = min(2*batch, 512) {
		rounds, each := max(1, batch/len(left)), 1
		if len(left) == 1 && left[0].alike() && left[0].replicas > 0 {
			rounds, each = 1, rounds
		}
		for range rounds {
			for _, w := range left {
				n := min(each, MostReplicas-w.replicas)
				if n == 0 {
					continue
				}
				if err := f.addReplicas(ctx, w, n); err != nil {
					return err
				}
			}
		}
		if err := f.engine.Run(ctx); err != nil {
			return err
		}
		f.sum()
		f.progress("adds replicas", f.found.Tried-f.found.Pending-f.found.NotCreated, 0)
		left = slices.DeleteFunc(left, func(w *Workload) bool {
			return len(w.Why)+len(w.NotCreated) > 0 || len(w.Pods) < w.replicas || w.replicas >= MostReplicas
		})
	}
	for _, w := range f.found.Workloads {
		maps.DeleteFunc(w.Pods, func(_, node string) bool { return node == "" })
	}
	return nil
}

// alike says whether no replica differs from another but in its name. Of others, which ones a quota rejects depends on their order.
func (w *Workload) alike() bool { return w.Kind != "StatefulSet" && w.Kind != "Job" }

// addReplicas adds n replicas.
func (f *fitting) addReplicas(ctx context.Context, w *Workload, n int) (err error) {
	w.replicas += n
	pod, isPod := w.object.(*v1.Pod)
	switch {
	case isPod:
		for i := w.replicas - n; i < w.replicas && err == nil; i++ {
			err = f.addPod(ctx, w, pod.DeepCopy(), i)
		}
	case w.replicas == n:
		setReplicas(w.object, int32(n))
		var created cluster.Object
		created, err = f.engine.Cluster.Create(ctx, w.object)
		if err == nil {
			w.object = created
		}
	case w.rejected != nil: // the workload itself
		w.replicas -= n
		return nil
	default:
		o := f.engine.Cluster.Current(w.object).DeepCopyObject().(cluster.Object)
		setReplicas(o, int32(w.replicas))
		err = f.engine.Cluster.Update(o)
	}
	if cluster.IsRejection(err) {
		w.rejected = err
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w, err)
	}
	return f.engine.SyncControllers(ctx) // so that its pod comes before that of the next workload
}

// addPod adds the pod of a number.
func (f *fitting) addPod(ctx context.Context, w *Workload, pod *v1.Pod, i int) error {
	if i > 0 || pod.Name == "" || w.Unknown {
		pod.Name = fmt.Sprintf("%s-%d", strings.TrimSuffix(w.Name, "-"), i)
	}
	for cluster.Get[*v1.Pod](f.engine.Cluster, pod.Namespace, pod.Name) != nil { // of an operator, perhaps, or of another workload
		pod.Name += "-more"
	}
	created, err := f.engine.Cluster.Create(ctx, pod)
	if err == nil {
		w.bare = append(w.bare, cluster.NameOf(created))
	}
	return err
}
