package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sort"
	"strings"

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
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Kinds are the kinds of a Snapshot in the order in which they are made: each after
// kinds that it refers to. No other kind is ever read from a cluster: no Secret, no
// ConfigMap, no ServiceAccount, no Event and no custom resource.
var Kinds = []Kind{
	kindOf("namespace", &v1.Namespace{}),
	kindOf("priority class", &schedulingv1.PriorityClass{}),
	kindOf("runtime class", &nodev1.RuntimeClass{}),
	kindOf("storage class", &storagev1.StorageClass{}),
	kindOf("CSI driver", &storagev1.CSIDriver{}),
	kindOf("CSI node", &storagev1.CSINode{}),
	kindOf("CSI storage capacity", &storagev1.CSIStorageCapacity{}),
	kindOf("persistent volume claim", &v1.PersistentVolumeClaim{}),
	kindOf("persistent volume", &v1.PersistentVolume{}),
	kindOf("volume attachment", &storagev1.VolumeAttachment{}),
	kindOf("device class", &resourcev1.DeviceClass{}),
	kindOf("resource slice", &resourcev1.ResourceSlice{}),
	kindOf("resource claim template", &resourcev1.ResourceClaimTemplate{}),
	kindOf("resource claim", &resourcev1.ResourceClaim{}),
	kindOf("service", &v1.Service{}),
	kindOf("pod disruption budget", &policyv1.PodDisruptionBudget{}),
	kindOf("deployment", &appsv1.Deployment{}),
	kindOf("replica set", &appsv1.ReplicaSet{}),
	kindOf("replication controller", &v1.ReplicationController{}),
	kindOf("stateful set", &appsv1.StatefulSet{}),
	kindOf("daemon set", &appsv1.DaemonSet{}),
	kindOf("controller revision", &appsv1.ControllerRevision{}),
	kindOf("cron job", &batchv1.CronJob{}),
	kindOf("job", &batchv1.Job{}),
	kindOf("node", &v1.Node{}),
	kindOf("pod", &v1.Pod{}),
	kindOf("limit range", &v1.LimitRange{}),
	kindOf("resource quota", &v1.ResourceQuota{}),
}

// ofNoNamespace are the kinds whose objects belong to the whole cluster.
var ofNoNamespace = []string{
	"Namespace", "PriorityClass", "RuntimeClass", "StorageClass", "CSIDriver", "CSINode",
	"PersistentVolume", "VolumeAttachment", "DeviceClass", "ResourceSlice", "Node",
}

// Kind is a kind of object that a [Snapshot] holds.
type Kind struct {
	// Resource names it to an API server, Title to a person.
	Resource schema.GroupVersionResource
	Title    string
	// Kind is what manifests call it.
	Kind string

	name  string // what a file calls the list of them
	field int    // of a Snapshot, which has it
}

// Object is an object of one of the Kinds.
type Object interface {
	metav1.Object
	runtime.Object
}

func kindOf(title string, one Object) Kind {
	kinds, _, err := scheme.Scheme.ObjectKinds(one)
	if err != nil {
		panic(err) // all kinds of Kubernetes are in its scheme
	}
	resource, _ := meta.UnsafeGuessKindToResource(kinds[0])
	list := reflect.SliceOf(reflect.TypeOf(one).Elem())
	for field := range reflect.TypeFor[Snapshot]().Fields() {
		if field.Type == list {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			return Kind{Resource: resource, Title: title, Kind: kinds[0].Kind, name: name, field: field.Index[0]}
		}
	}
	panic("a snapshot has no list of " + title)
}

// KindNamed is the one of Kinds that manifests call so.
func KindNamed(kind string) Kind {
	return Kinds[slices.IndexFunc(Kinds, func(k Kind) bool { return k.Kind == kind })]
}

// of is the list of a snapshot.
func (k Kind) of(s *Snapshot) reflect.Value { return reflect.ValueOf(s).Elem().Field(k.field) }

// Count is how many objects of the kind a snapshot has.
func (k Kind) Count(s *Snapshot) int { return k.of(s).Len() }

// All are the lists of a snapshot, to be read and changed.
func (k Kind) All(s *Snapshot) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		for i := range k.of(s).Len() {
			if !yield(k.of(s).Index(i).Addr().Interface().(Object)) {
				return
			}
		}
	}
}

func (k Kind) append(s *Snapshot, o any) {
	k.of(s).Set(reflect.Append(k.of(s), reflect.ValueOf(o).Elem()))
}

// DeepCopy is a snapshot that shares nothing with the other but its Source.
func (s *Snapshot) DeepCopy() *Snapshot {
	to := &Snapshot{Source: s.Source, SchedulerConfig: slices.Clone(s.SchedulerConfig)}
	for _, k := range Kinds {
		k.of(to).Grow(k.of(s).Len())
		for o := range k.All(s) {
			k.append(to, o.DeepCopyObject())
		}
	}
	return to
}

// Sort sorts the objects of each kind by their names: the order of a file's items means nothing.
func (s *Snapshot) Sort() {
	for _, k := range Kinds {
		all := k.of(s)
		at := func(i int) Object { return all.Index(i).Addr().Interface().(Object) }
		sort.SliceStable(all.Interface(), func(i, j int) bool {
			return cmp.Or(cmp.Compare(at(i).GetNamespace(), at(j).GetNamespace()), cmp.Compare(at(i).GetName(), at(j).GetName())) < 0
		})
	}
}

// Drop takes objects out of a snapshot.
func (k Kind) Drop(s *Snapshot, out func(Object) bool) {
	list := k.of(s)
	kept := list.Slice3(0, 0, 0)
	for o := range k.All(s) {
		if !out(o) {
			kept = reflect.Append(kept, reflect.ValueOf(o).Elem())
		}
	}
	list.Set(kept)
}

// mostPages bounds the pages of a list. No cluster has as many: with a limit, a page has hundreds of objects, and without one, a list is a page.
const mostPages = 10_000

// List adds those of a cluster to a snapshot, a page after the other. A list that would not end is an error.
func (k Kind) List(ctx context.Context, from kubernetes.Interface, to *Snapshot, o metav1.ListOptions, page func(int)) error {
	tokens := sets.Set[string]{} // by which pages were asked for
	for {
		switch {
		case tokens.Has(o.Continue):
			return fmt.Errorf("the server's list does not end: page %d continues with a page that it has sent before", tokens.Len())
		case tokens.Len() == mostPages:
			return fmt.Errorf("the server's list does not end: it has more than %d pages", mostPages)
		}
		tokens.Insert(o.Continue)
		list, err := k.request(client(from).Get(), "").VersionedParams(&o, scheme.ParameterCodec).Do(ctx).Get()
		status := apierrors.APIStatus(nil)
		if apierrors.IsResourceExpired(err) && errors.As(err, &status) && status.Status().Continue != "" {
			// The pages took so long that the cluster has forgotten how it was at the
			// first one: it goes on with how it is now.
			o.Continue = status.Status().Continue
			continue
		}
		if err != nil {
			return err
		}
		items := reflect.ValueOf(list).Elem().FieldByName("Items")
		if !items.IsValid() || items.Type() != k.of(to).Type() {
			return fmt.Errorf("the server answers a request for %s with a %s", k.Resource.Resource, reflect.TypeOf(list).Elem().Name())
		}
		for i := range items.Len() {
			items.Index(i).Addr().Interface().(Object).SetManagedFields(nil) // a third of it, which only an API server reads
		}
		k.of(to).Set(reflect.AppendSlice(k.of(to), items))
		page(items.Len())
		o.Continue = list.(metav1.ListInterface).GetContinue()
		if o.Continue == "" {
			return nil
		}
	}
}

// client serves all kinds: they have one scheme.
func client(c kubernetes.Interface) rest.Interface { return c.CoreV1().RESTClient() }

// request addresses a request to the objects of the kind, in a namespace if it has one.
func (k Kind) request(r *rest.Request, namespace string) *rest.Request {
	prefix := "/apis"
	if k.Resource.Group == "" {
		prefix = "/api"
	}
	return r.AbsPath(prefix, k.Resource.Group, k.Resource.Version).
		NamespaceIfScoped(namespace, namespace != "").Resource(k.Resource.Resource)
}

// isThere is true if a cluster has an object of that name.
func (k Kind) isThere(ctx context.Context, in kubernetes.Interface, o Object) (bool, error) {
	err := k.request(client(in).Get(), o.GetNamespace()).Name(o.GetName()).Do(ctx).Error()
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// PodTemplate is what the pods of an owner are made from, or nil.
func PodTemplate(o Object) *v1.PodTemplateSpec {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *appsv1.ReplicaSet:
		return &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.Spec.Template
	case *batchv1.Job:
		return &o.Spec.Template
	case *v1.ReplicationController:
		return o.Spec.Template
	}
	return nil
}

// Example is an empty object of the kind.
func (k Kind) Example() Object {
	return reflect.New(k.of(&Snapshot{}).Type().Elem()).Interface().(Object)
}

// Namespaced is true if its objects have a namespace.
func (k Kind) Namespaced() bool { return !slices.Contains(ofNoNamespace, k.Kind) }

// others are kinds of Kubernetes besides [Kinds] whose objects belong to the whole cluster.
var others = []string{
	"APIService", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding", "ClusterTrustBundle", "CustomResourceDefinition", "DeviceTaintRule",
	"FlowSchema", "IPAddress", "IngressClass", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
	"PriorityLevelConfiguration", "ServiceCIDR", "StorageVersionMigration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"ValidatingWebhookConfiguration", "VolumeAttributesClass",
}

// IsClusterScoped says whether the objects of a kind are known to belong to the whole cluster.
func IsClusterScoped(kind string) bool {
	return slices.Contains(ofNoNamespace, kind) || slices.Contains(others, kind)
}

// IsNamespaced says whether a kind is one of [Kinds] whose objects have a namespace.
func IsNamespaced(is schema.GroupKind) bool {
	return slices.ContainsFunc(Kinds, func(k Kind) bool {
		return k.Kind == is.Kind && k.Resource.Group == is.Group && k.Namespaced()
	})
}
