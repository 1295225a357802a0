package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	schedulingapi "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// Load puts what a snapshot has into the cluster, and uses it up: whatever refers to it
// must not be changed. Objects come as an API server has handed them out, so they are
// not admitted once more, unless they lack what it fills in. Pods that have ended, or are
// being deleted, are skipped, unless a finalizer or a silent kubelet keeps them. Pods that have a node are ready unless the file says
// otherwise, and so are nodes. Pods without a node come last, the oldest first, and then what is for pods
// that are made later alone. An error names the object at fault.
func (c *Cluster) Load(s *snapshot.Snapshot) error {
	s.AddMissing()
	s.Sort()
	for _, class := range schedulingapi.SystemPriorityClasses() {
		c.put(class)
	}
	for _, name := range snapshot.SystemNamespaces {
		if slices.ContainsFunc(s.Namespaces, func(n v1.Namespace) bool { return n.Name == name }) {
			continue
		}
		c.put(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelMetadataName: name}}})
	}
	c.loading = true
	defer func() { c.loading = false }()
	var pods []Object
	var last []snapshot.Kind
	for _, kind := range snapshot.Kinds {
		switch kind.Kind {
		case "Pod":
			pods = slices.SortedStableFunc(kind.All(s), runningFirst)
		case "LimitRange", "ResourceQuota":
			last = append(last, kind)
		default:
			if err := c.loadAll(kind, kind.All(s)); err != nil {
				return err
			}
		}
	}
	c.loading = false
	c.bindAllAtOnce()
	if err := c.loadAll(snapshot.KindNamed("Pod"), slices.Values(pods)); err != nil {
		return err
	}
	if err := c.infer(); err != nil {
		return err
	}
	c.inferInjections()
	for _, namespace := range All[*v1.Namespace](c) {
		if namespace.DeletionTimestamp != nil { // in which only new objects are rejected
			namespace = namespace.DeepCopy()
			namespace.Status.Phase = v1.NamespaceTerminating
			c.put(namespace)
		}
	}
	for _, kind := range last {
		if err := c.loadAll(kind, kind.All(s)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) loadAll(kind snapshot.Kind, objects iter.Seq[Object]) error {
	for o := range objects {
		if err := c.load(o); err != nil {
			return fmt.Errorf("%s %s: %w", kind.Title, cache.MetaObjectToName(o), err)
		}
	}
	return nil
}

// runningFirst is the order in which pods are loaded: those with a node first, then the oldest.
func runningFirst(a, b Object) int {
	one, other := a.(*v1.Pod), b.(*v1.Pod)
	if (one.Spec.NodeName == "") != (other.Spec.NodeName == "") {
		return cmp.Compare(other.Spec.NodeName, one.Spec.NodeName) // one of which is empty
	}
	return ByAge(one, other)
}

// ByAge is the order in which pods are queued: the oldest first.
func ByAge(a, b *v1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), ByName(a, b))
}

// ByName is an order by namespace and name.
func ByName[T Object](a, b T) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

func (c *Cluster) load(o Object) error {
	k := c.of(o)
	if k.get(o.GetNamespace(), o.GetName()) != nil {
		return errors.New("there are two of this name")
	}
	c.stamp(o)
	if o.GetUID() == "" {
		o.SetUID(types.UID(givenUID + hashed(k.kind.Kind+" "+cache.MetaObjectToName(o).String())))
	}
	legacyscheme.Scheme.Default(o)
	o, err := k.withSelector(o)
	if err != nil {
		return err
	}
	if err := c.checkWorkload(k, o); err != nil {
		return err
	}
	switch o := o.(type) {
	case *v1.Pod:
		return c.loadPod(o)
	case *v1.Node:
		o.Status.Conditions = snapshot.ConditionsOf(o)
	case *appsv1.ControllerRevision: // which controllers compare byte by byte
		var data any
		if err := json.Unmarshal(o.Data.Raw, &data); err != nil {
			return err
		}
		o.Data.Raw, _ = json.Marshal(data) // which was JSON
	case *minor.PodGroup: // whose priority its class gives it
		made, err := c.prepare(context.Background(), k, o, nil, "")
		if err == nil {
			c.put(made)
		}
		return err
	case *v1.PersistentVolumeClaim:
		if o.Status.Phase == v1.ClaimBound {
			metav1.SetMetaDataAnnotation(&o.ObjectMeta, volumehelpers.AnnBindCompleted, "yes")
		}
	case *resourcev1.ResourceClaim:
		if o.Status.Allocation != nil && !slices.Contains(o.Finalizers, resourcev1.Finalizer) {
			o.Finalizers = append(o.Finalizers, resourcev1.Finalizer)
		}
		if o.Status.Allocation != nil && o.Status.Allocation.AllocationTimestamp == nil { // which no update may add
			o.Status.Allocation.AllocationTimestamp = &o.CreationTimestamp
		}
	}
	c.put(o)
	return nil
}

// withSelector gives a Job that a person has written the selector and the labels by which an API server has it find its pods. Other
// workloads have a selector in their file, or by a default.
func (k *kind) withSelector(o Object) (Object, error) {
	job, ok := o.(*batchv1.Job)
	if !ok || job.Spec.Selector != nil {
		return o, nil
	}
	internal, err := legacyscheme.Scheme.ConvertToVersion(job, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, err
	}
	k.strategies.Object.PrepareForCreate(k.request(context.Background(), "create", job), internal)
	made := &batchv1.Job{}
	err = legacyscheme.Scheme.Convert(internal, made, nil)
	made.Status = job.Status
	return made, err
}

// loadPod admits a pod that a person has written. One that an API server has stored stays as it is: it would be
// rejected the second time if it has matchLabelKeys, or if its PriorityClass has changed since.
func (c *Cluster) loadPod(pod *v1.Pod) error {
	ref := metav1.GetControllerOf(pod)
	if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) && (ref == nil || c.owner(pod.Namespace, ref) == nil) {
		pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
		c.Unmodelled("Jobs that the cluster's file lacks (their pods are recreated, and have no finalizers of them)")
	}
	held := len(pod.Finalizers) > 0 || c.keeps(pod)
	switch {
	case podutil.IsPodTerminal(pod) && (pod.DeletionTimestamp == nil || !held):
		return nil
	case pod.DeletionTimestamp != nil && !held: // it will soon take no room
		c.Skipped = append(c.Skipped, cache.MetaObjectToName(pod).String())
		return nil
	}
	if !stored(pod) {
		status := pod.Status
		pod.Spec.EphemeralContainers = nil // which no new pod may have
		made, err := c.prepare(context.Background(), c.of(pod), pod, nil, "")
		if err != nil {
			return err
		}
		uid := pod.UID
		pod = made.(*v1.Pod)
		pod.UID, pod.Status.ResourceClaimStatuses = uid, status.ResourceClaimStatuses
		if pod.Spec.NodeName != "" {
			pod.Status = status
		}
	}
	if pod.Spec.NodeName == "" {
		pod.Status.NominatedNodeName = "" // room that another scheduler has made, of which nothing else is known
	}
	if pod.Spec.NodeName != "" && pod.Status.StartTime == nil { // whom preemption spares depends on it: without, on the time of the machine
		pod.Status.StartTime = ptr.To(pod.CreationTimestamp)
	}
	_, ready := podutil.GetPodCondition(&pod.Status, v1.PodReady)
	if pod.Spec.NodeName != "" && ready == nil && !podutil.IsPodTerminal(pod) {
		started := pod.Status.StartTime
		c.start(pod)
		pod.Status.StartTime = started
	} else if ready != nil && ready.LastTransitionTime.IsZero() {
		ready.LastTransitionTime = *cmp.Or(pod.Status.StartTime, &pod.CreationTimestamp)
	}
	if pod.DeletionTimestamp != nil && !c.keeps(pod) { // its kubelet ends it, and its finalizers keep it
		if !podutil.IsPodTerminal(pod) {
			c.Skipped = append(c.Skipped, cache.MetaObjectToName(pod).String())
		}
		pod.Status.Phase = v1.PodFailed
	}
	c.adopt(pod)
	c.put(pod)
	if pod.Spec.NodeName != "" && !podutil.IsPodTerminal(pod) {
		c.reserve(pod)
	}
	return nil
}

// stored says whether an API server has admitted a pod: then it has a priority, and the selectors of its
// constraints have the requirements that matchLabelKeys stand for.
func stored(pod *v1.Pod) bool {
	found := pod.Spec.Priority != nil
	eachMerge(&pod.Spec, func(selector *metav1.LabelSelector, keys []string) {
		found = found || slices.ContainsFunc(selector.MatchExpressions, merged(keys))
	})
	return found
}

// unmerge takes the requirements away that matchLabelKeys stand for: an API server adds them again.
func unmerge(spec *v1.PodSpec) {
	eachMerge(spec, func(selector *metav1.LabelSelector, keys []string) {
		selector.MatchExpressions = slices.DeleteFunc(selector.MatchExpressions, merged(keys))
	})
}

// merged says whether a requirement is for one of the keys, which a person may not write.
func merged(keys []string) func(metav1.LabelSelectorRequirement) bool {
	return func(r metav1.LabelSelectorRequirement) bool { return slices.Contains(keys, r.Key) }
}

// eachMerge calls a function with each selector of a pod's constraints, and the keys that are merged into it.
func eachMerge(spec *v1.PodSpec, call func(*metav1.LabelSelector, []string)) {
	visit := func(selector *metav1.LabelSelector, keys ...string) {
		if selector != nil {
			call(selector, keys)
		}
	}
	for i := range spec.TopologySpreadConstraints {
		one := &spec.TopologySpreadConstraints[i]
		visit(one.LabelSelector, one.MatchLabelKeys...)
	}
	affinity := ptr.Deref(spec.Affinity, v1.Affinity{})
	together := ptr.Deref(affinity.PodAffinity, v1.PodAffinity{})
	apart := ptr.Deref(affinity.PodAntiAffinity, v1.PodAntiAffinity{})
	terms := slices.Concat(together.RequiredDuringSchedulingIgnoredDuringExecution, apart.RequiredDuringSchedulingIgnoredDuringExecution)
	for _, preferred := range slices.Concat(together.PreferredDuringSchedulingIgnoredDuringExecution, apart.PreferredDuringSchedulingIgnoredDuringExecution) {
		terms = append(terms, preferred.PodAffinityTerm)
	}
	for _, term := range terms {
		visit(term.LabelSelector, slices.Concat(term.MatchLabelKeys, term.MismatchLabelKeys)...)
	}
}

// adopt has the claims that were made for a pod from templates be its own, also where the
// file does not say whose they are.
func (c *Cluster) adopt(pod *v1.Pod) {
	own := func(claim Object) {
		if claim != nil && !metav1.IsControlledBy(claim, pod) {
			c.own(claim, pod, "v1", "Pod")
		}
	}
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Ephemeral != nil {
			own(c.of(&v1.PersistentVolumeClaim{}).get(pod.Namespace, snapshot.ClaimOf(pod, &pod.Spec.Volumes[i])))
		}
	}
	for _, made := range pod.Status.ResourceClaimStatuses {
		own(c.of(&resourcev1.ResourceClaim{}).get(pod.Namespace, ptr.Deref(made.ResourceClaimName, "")))
	}
}
