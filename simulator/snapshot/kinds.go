package snapshot

import (
	"context"
	"errors"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// Kind is a kind of object that a [Snapshot] holds.
type Kind struct {
	// Resource names it to an API server, Title to a person.
	Resource schema.GroupVersionResource
	Title    string
	// Kind is what manifests call it.
	Kind string

	handler
}

// handler is what is done with the objects of a kind, whatever their type.
type handler interface {
	// Count is how many of them a snapshot has.
	Count(*Snapshot) int
	// List adds those of a cluster to a snapshot, a page after the other.
	List(context.Context, kubernetes.Interface, *Snapshot, metav1.ListOptions, func(page int)) error
	// dropThere takes those out of a snapshot that a cluster has.
	dropThere(context.Context, kubernetes.Interface, *Snapshot) error
	// add decodes one and adds it to a snapshot. What it has that is not known is found.
	add(to *Snapshot, raw []byte) (one metav1.Object, found []error, err error)
	// in is where a snapshot has them.
	in(*Snapshot) any
	// Each calls a function with each of a snapshot.
	Each(*Snapshot, func(metav1.Object))
	// Drop takes those out of a snapshot of which a function is true.
	Drop(*Snapshot, func(metav1.Object) bool)
	// put makes those of a snapshot of which which is true.
	put(context.Context, *importing, *Snapshot, func(metav1.Object) bool) error
}

// object is a pointer to a resource of type T.
type object[T any] interface {
	*T
	metav1.Object
	runtime.Object
}

// client is as much of a typed client as is needed here.
type client[T, L any] interface {
	Create(context.Context, *T, metav1.CreateOptions) (*T, error)
	Get(context.Context, string, metav1.GetOptions) (*T, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*T, error)
	List(context.Context, metav1.ListOptions) (*L, error)
}

// typed handles the kind of the type T, whose lists are of the type L.
type typed[T, L any, P object[T]] struct {
	items  func(*Snapshot) *[]T
	client func(c kubernetes.Interface, namespace string) client[T, L]
	title  string
}

// Kinds are those of a Snapshot in the order in which they are made: each after
// those that it refers to.
var Kinds = []Kind{
	kindOf("namespaces", "namespace", func(s *Snapshot) *[]v1.Namespace { return &s.Namespaces },
		func(c kubernetes.Interface, _ string) client[v1.Namespace, v1.NamespaceList] {
			return c.CoreV1().Namespaces()
		}),
	kindOf("priorityclasses", "priority class", func(s *Snapshot) *[]schedulingv1.PriorityClass { return &s.PriorityClasses },
		func(c kubernetes.Interface, _ string) client[schedulingv1.PriorityClass, schedulingv1.PriorityClassList] {
			return c.SchedulingV1().PriorityClasses()
		}),
	kindOf("runtimeclasses", "runtime class", func(s *Snapshot) *[]nodev1.RuntimeClass { return &s.RuntimeClasses },
		func(c kubernetes.Interface, _ string) client[nodev1.RuntimeClass, nodev1.RuntimeClassList] {
			return c.NodeV1().RuntimeClasses()
		}),
	kindOf("storageclasses", "storage class", func(s *Snapshot) *[]storagev1.StorageClass { return &s.StorageClasses },
		func(c kubernetes.Interface, _ string) client[storagev1.StorageClass, storagev1.StorageClassList] {
			return c.StorageV1().StorageClasses()
		}),
	kindOf("csidrivers", "CSI driver", func(s *Snapshot) *[]storagev1.CSIDriver { return &s.CSIDrivers },
		func(c kubernetes.Interface, _ string) client[storagev1.CSIDriver, storagev1.CSIDriverList] {
			return c.StorageV1().CSIDrivers()
		}),
	kindOf("csinodes", "CSI node", func(s *Snapshot) *[]storagev1.CSINode { return &s.CSINodes },
		func(c kubernetes.Interface, _ string) client[storagev1.CSINode, storagev1.CSINodeList] {
			return c.StorageV1().CSINodes()
		}),
	kindOf("csistoragecapacities", "CSI storage capacity", func(s *Snapshot) *[]storagev1.CSIStorageCapacity { return &s.CSIStorageCapacities },
		func(c kubernetes.Interface, ns string) client[storagev1.CSIStorageCapacity, storagev1.CSIStorageCapacityList] {
			return c.StorageV1().CSIStorageCapacities(ns)
		}),
	kindOf("persistentvolumeclaims", "persistent volume claim", func(s *Snapshot) *[]v1.PersistentVolumeClaim { return &s.PVCs },
		func(c kubernetes.Interface, ns string) client[v1.PersistentVolumeClaim, v1.PersistentVolumeClaimList] {
			return c.CoreV1().PersistentVolumeClaims(ns)
		}),
	kindOf("persistentvolumes", "persistent volume", func(s *Snapshot) *[]v1.PersistentVolume { return &s.PVs },
		func(c kubernetes.Interface, _ string) client[v1.PersistentVolume, v1.PersistentVolumeList] {
			return c.CoreV1().PersistentVolumes()
		}),
	kindOf("deviceclasses", "device class", func(s *Snapshot) *[]resourcev1.DeviceClass { return &s.DeviceClasses },
		func(c kubernetes.Interface, _ string) client[resourcev1.DeviceClass, resourcev1.DeviceClassList] {
			return c.ResourceV1().DeviceClasses()
		}),
	kindOf("resourceslices", "resource slice", func(s *Snapshot) *[]resourcev1.ResourceSlice { return &s.ResourceSlices },
		func(c kubernetes.Interface, _ string) client[resourcev1.ResourceSlice, resourcev1.ResourceSliceList] {
			return c.ResourceV1().ResourceSlices()
		}),
	kindOf("resourceclaimtemplates", "resource claim template", func(s *Snapshot) *[]resourcev1.ResourceClaimTemplate { return &s.ResourceClaimTemplates },
		func(c kubernetes.Interface, ns string) client[resourcev1.ResourceClaimTemplate, resourcev1.ResourceClaimTemplateList] {
			return c.ResourceV1().ResourceClaimTemplates(ns)
		}),
	kindOf("resourceclaims", "resource claim", func(s *Snapshot) *[]resourcev1.ResourceClaim { return &s.ResourceClaims },
		func(c kubernetes.Interface, ns string) client[resourcev1.ResourceClaim, resourcev1.ResourceClaimList] {
			return c.ResourceV1().ResourceClaims(ns)
		}),
	kindOf("services", "service", func(s *Snapshot) *[]v1.Service { return &s.Services },
		func(c kubernetes.Interface, ns string) client[v1.Service, v1.ServiceList] {
			return c.CoreV1().Services(ns)
		}),
	kindOf("poddisruptionbudgets", "pod disruption budget", func(s *Snapshot) *[]policyv1.PodDisruptionBudget { return &s.PodDisruptionBudgets },
		func(c kubernetes.Interface, ns string) client[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList] {
			return c.PolicyV1().PodDisruptionBudgets(ns)
		}),
	kindOf("deployments", "deployment", func(s *Snapshot) *[]appsv1.Deployment { return &s.Deployments },
		func(c kubernetes.Interface, ns string) client[appsv1.Deployment, appsv1.DeploymentList] {
			return c.AppsV1().Deployments(ns)
		}),
	kindOf("replicasets", "replica set", func(s *Snapshot) *[]appsv1.ReplicaSet { return &s.ReplicaSets },
		func(c kubernetes.Interface, ns string) client[appsv1.ReplicaSet, appsv1.ReplicaSetList] {
			return c.AppsV1().ReplicaSets(ns)
		}),
	kindOf("replicationcontrollers", "replication controller", func(s *Snapshot) *[]v1.ReplicationController { return &s.ReplicationControllers },
		func(c kubernetes.Interface, ns string) client[v1.ReplicationController, v1.ReplicationControllerList] {
			return c.CoreV1().ReplicationControllers(ns)
		}),
	kindOf("statefulsets", "stateful set", func(s *Snapshot) *[]appsv1.StatefulSet { return &s.StatefulSets },
		func(c kubernetes.Interface, ns string) client[appsv1.StatefulSet, appsv1.StatefulSetList] {
			return c.AppsV1().StatefulSets(ns)
		}),
	kindOf("daemonsets", "daemon set", func(s *Snapshot) *[]appsv1.DaemonSet { return &s.DaemonSets },
		func(c kubernetes.Interface, ns string) client[appsv1.DaemonSet, appsv1.DaemonSetList] {
			return c.AppsV1().DaemonSets(ns)
		}),
	kindOf("cronjobs", "cron job", func(s *Snapshot) *[]batchv1.CronJob { return &s.CronJobs },
		func(c kubernetes.Interface, ns string) client[batchv1.CronJob, batchv1.CronJobList] {
			return c.BatchV1().CronJobs(ns)
		}),
	kindOf("jobs", "job", func(s *Snapshot) *[]batchv1.Job { return &s.Jobs },
		func(c kubernetes.Interface, ns string) client[batchv1.Job, batchv1.JobList] {
			return c.BatchV1().Jobs(ns)
		}),
	kindOf("nodes", "node", func(s *Snapshot) *[]v1.Node { return &s.Nodes },
		func(c kubernetes.Interface, _ string) client[v1.Node, v1.NodeList] { return c.CoreV1().Nodes() }),
	kindOf("pods", "pod", func(s *Snapshot) *[]v1.Pod { return &s.Pods },
		func(c kubernetes.Interface, ns string) client[v1.Pod, v1.PodList] { return c.CoreV1().Pods(ns) }),
}

// kindNamed is the one of Kinds that manifests call so.
func kindNamed(kind string) Kind {
	return Kinds[slices.IndexFunc(Kinds, func(k Kind) bool { return k.Kind == kind })]
}

func kindOf[T, L any, P object[T]](
	resource, title string, items func(*Snapshot) *[]T, client func(kubernetes.Interface, string) client[T, L],
) Kind {
	kinds, _, err := scheme.Scheme.ObjectKinds(P(new(T)))
	if err != nil {
		panic(err) // all kinds of Kubernetes are in its scheme
	}
	return Kind{
		Resource: kinds[0].GroupVersion().WithResource(resource),
		Title:    title, Kind: kinds[0].Kind,
		handler: typed[T, L, P]{items, client, title},
	}
}

func (k typed[T, L, P]) Count(s *Snapshot) int { return len(*k.items(s)) }

func (k typed[T, L, P]) List(ctx context.Context, from kubernetes.Interface, to *Snapshot, o metav1.ListOptions, page func(int)) error {
	items := k.items(to)
	for {
		list, err := k.client(from, metav1.NamespaceAll).List(ctx, o)
		if next := afterExpiry(err); next != "" {
			o.Continue = next
			continue
		}
		if err != nil {
			return err
		}
		before := len(*items)
		if err := meta.EachListItem(any(list).(runtime.Object), func(item runtime.Object) error {
			P(item.(P)).SetManagedFields(nil) // a third of it, which only an API server reads
			*items = append(*items, *item.(P))
			return nil
		}); err != nil {
			return err
		}
		page(len(*items) - before)
		if o.Continue = any(list).(metav1.ListInterface).GetContinue(); o.Continue == "" {
			return nil
		}
	}
}

// afterExpiry is where to go on if the pages took so long that the cluster has
// forgotten how it was at the first one: with how it is now.
func afterExpiry(err error) string {
	if status := apierrors.APIStatus(nil); apierrors.IsResourceExpired(err) && errors.As(err, &status) {
		return status.Status().Continue
	}
	return ""
}

func (k typed[T, L, P]) add(to *Snapshot, raw []byte) (metav1.Object, []error, error) {
	one := P(new(T))
	found, err := decode(raw, (*T)(one))
	if err != nil {
		return nil, nil, err
	}
	items := k.items(to)
	*items = append(*items, *one)
	return one, found, nil
}

func (k typed[T, L, P]) in(s *Snapshot) any { return k.items(s) }

func (k typed[T, L, P]) Each(s *Snapshot, do func(metav1.Object)) {
	items := *k.items(s)
	for i := range items {
		do(P(&items[i]))
	}
}

func (k typed[T, L, P]) Drop(s *Snapshot, out func(metav1.Object) bool) {
	items := k.items(s)
	kept := (*items)[:0:0]
	for i := range *items {
		if !out(P(&(*items)[i])) {
			kept = append(kept, (*items)[i])
		}
	}
	*items = kept
}

func (k typed[T, L, P]) dropThere(ctx context.Context, in kubernetes.Interface, s *Snapshot) error {
	var failed error
	k.Drop(s, func(o metav1.Object) bool {
		_, err := k.client(in, o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			failed = err
		}
		return err == nil
	})
	return failed
}
