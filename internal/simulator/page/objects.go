package page

import (
	"cmp"
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

// shelf is a kind and a page of its objects.
type shelf struct {
	kind
	Objects pageOf[*listedObject]
	Total   int // without a filter
}

// listedObject is an object. Its content is there once it is shown.
type listedObject struct {
	metav1.Object
	Content map[string]any
}

func (l *listedObject) fields() []string { return []string{l.GetName(), l.GetNamespace()} }

const objectsPerPage = 20

func (p *page) objects(w http.ResponseWriter, r *http.Request) error {
	tools := newToolbar(r, "text or regex: name, namespace", nil, p.namespaces())
	var shelves []shelf
	for _, k := range kinds {
		if k.onOverview() {
			continue
		}
		one, err := p.shelf(r, tools, k)
		if err != nil {
			return err
		}
		shelves = append(shelves, one)
	}
	return p.show(w, r, "objects", "Other objects", "objects", map[string]any{"Tools": tools, "Self": r.URL.String(), "Shelves": shelves})
}

func (p *page) shelf(r *http.Request, tools toolbar, k kind) (shelf, error) {
	cache, err := p.sim.Informers().ForResource(k.resource())
	if err != nil {
		return shelf{}, err
	}
	objects, err := cache.Lister().List(labels.Everything())
	if err != nil {
		return shelf{}, err
	}
	var all []*listedObject
	for _, one := range objects {
		all = append(all, &listedObject{Object: one.(metav1.Object)})
	}
	kept := keep(tools, all)
	slices.SortFunc(kept, func(a, b *listedObject) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), natural(a.GetName(), b.GetName()))
	})
	shown := cut(kept, r, k.Key(), objectsPerPage)
	for _, one := range shown.Items {
		one.Content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(one.Object)
		if err != nil {
			return shelf{}, err
		}
		one.Content["kind"] = k.Title // which caches omit
	}
	return shelf{k, shown, len(all)}, nil
}

// BuiltIn reports whether every cluster has the object.
func (s shelf) BuiltIn(name string) bool {
	return slices.Contains([]string{"default", "kubernetes", "extension-apiserver-authentication"}, name) ||
		strings.HasPrefix(name, "kube-") || strings.HasPrefix(name, "system-")
}

// object names an object of a kind, for its buttons.
type object struct {
	kind
	Namespace, Name string
}

func objectOf(key, namespace, name string) object {
	k, _ := kindOf(key)
	return object{k, namespace, name}
}

// named is the resource of a kind in the namespace of a query, and the name there.
func (p *page) named(r *http.Request, k kind) (in dynamic.ResourceInterface, name string) {
	q := r.URL.Query()
	return p.client.Resource(k.resource()).Namespace(q.Get("namespace")), q.Get("name")
}

// deleteObject deletes an object and what it owns. Without the policy, the pods of a Job
// would stay.
func (p *page) deleteObject(w http.ResponseWriter, r *http.Request, k kind) error {
	in, name := p.named(r, k)
	err := in.Delete(r.Context(), name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)})
	return answer(w, "Deleted "+k.Key()+" "+name, true, err)
}

func (p *page) scale(w http.ResponseWriter, r *http.Request, k kind) error {
	by, err := strconv.ParseInt(r.URL.Query().Get("by"), 10, 32)
	if !k.Scales() || err != nil {
		return notFound("A " + k.Title + " has no such replicas.")
	}
	in, name := p.named(r, k)
	var replicas int64
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		raw, err := in.Get(r.Context(), name, metav1.GetOptions{}, "scale")
		if err != nil {
			return err
		}
		replicas, _, _ = unstructured.NestedInt64(raw.Object, "spec", "replicas") // the field is missing if it is 0
		replicas = max(0, replicas+by)
		if err := unstructured.SetNestedField(raw.Object, replicas, "spec", "replicas"); err != nil {
			return err
		}
		_, err = in.Update(r.Context(), raw, metav1.UpdateOptions{FieldManager: author}, "scale")
		return err
	})
	return answer(w, fmt.Sprintf("%s %s: %s", k.Key(), name, report.Plural(int(replicas), "replica")), true, err)
}

// kind is a kind of object that the page has a form for. All are at v1. Use says in a line
// what it is.
type kind struct{ Group, Title, Use string }

var kinds = []kind{
	{"", "Node", "a machine that runs pods"},
	{"", "Pod", "what the scheduler assigns to a node"},
	{"apps", "Deployment", "replicas of a pod, with rolling updates"},
	{"apps", "ReplicaSet", "replicas of a pod"},
	{"apps", "StatefulSet", "ordered replicas, each with volume claims of its own"},
	{"", "ReplicationController", "replicas of a pod; the predecessor of ReplicaSet"},
	{"apps", "DaemonSet", "a pod on each node"},
	{"batch", "Job", "pods that run to completion"},
	{"batch", "CronJob", "Jobs on a schedule"},
	{"", "Namespace", "a scope for pods, claims and other objects"},
	{"scheduling.k8s.io", "PriorityClass", "the priority of pods, for the queue and for preemption"},
	{"policy", "PodDisruptionBudget", "a limit on evictions, which preemption tries to respect"},
	{"", "Service", "a selector of pods, which default spreading uses"},
	{"", "ConfigMap", "configuration data; scheduling does not use it"},
	{"", "PersistentVolume", "storage, for all or for some nodes"},
	{"", "PersistentVolumeClaim", "a pod's request for storage"},
	{"storage.k8s.io", "StorageClass", "how and when claims get volumes"},
}

// HasPods reports whether an object of the kind is a pod, or has a template of some.
func (k kind) HasPods() bool {
	_, ok := lint.Templates[k.Title]
	return ok
}

// Key names the kind in addresses and is the stem of its manifest's file name.
func (k kind) Key() string { return strings.ToLower(k.Title) }

// Plural is the heading of a list.
func (k kind) Plural() string {
	if strings.HasSuffix(k.Title, "s") {
		return k.Title + "es"
	}
	return k.Title + "s"
}

// Scales reports whether the kind has replicas.
func (k kind) Scales() bool {
	return slices.Contains([]string{"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"}, k.Title)
}

// RollsOut reports whether a changed pod template of the kind replaces running pods.
func (k kind) RollsOut() bool {
	return slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, k.Title)
}

// onOverview reports whether the overview shows the kind, and the list of objects does not.
func (k kind) onOverview() bool { return k.Title == "Node" || k.Title == "Pod" }

func (k kind) resource() schema.GroupVersionResource {
	resource, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: k.Group, Version: "v1", Kind: k.Title})
	return resource
}

func kindOf(key string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.Key() == key })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

func ofKind(serve func(http.ResponseWriter, *http.Request, kind) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		k, ok := kindOf(r.PathValue("kind"))
		if !ok {
			return notFound("There is no form for this kind of object.")
		}
		return serve(w, r, k)
	}
}

//go:embed manifests/*.yaml
var manifests embed.FS

func (k kind) manifest() (string, error) {
	text, err := manifests.ReadFile("manifests/" + k.Key() + ".yaml")
	return strings.ReplaceAll(string(text), "{{.Suffix}}", rand.String(5)), err
}

// objectClient is a dynamic client that knows the resource of each kind.
type objectClient struct {
	dynamic.Interface
	mapper meta.RESTMapper
}

// of is where an object is sent to. It gives an object that needs a namespace and
// has none the default one.
func (c *objectClient) of(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	resource := c.Resource(mapping.Resource)
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return resource, nil
	}
	if o.Object["metadata"] == nil { // written, with nothing in it
		o.Object["metadata"] = map[string]any{}
	}
	o.SetNamespace(cmp.Or(o.GetNamespace(), metav1.NamespaceDefault))
	return resource.Namespace(o.GetNamespace()), nil
}
