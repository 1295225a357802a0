package page

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/whatif/compare/report"
)

type shelf struct {
	kind
	Objects []unstructured.Unstructured
}

func (p *page) objects(w http.ResponseWriter, r *http.Request) error {
	var shelves []shelf
	for _, k := range kinds {
		if k.onOverview() {
			continue
		}
		list, err := p.client.Resource(k.resource()).List(r.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		shelves = append(shelves, shelf{k, list.Items})
	}
	return p.show(w, r, "objects", "Other objects", "objects", map[string]any{"Shelves": shelves})
}

// BuiltIn is true of what comes with every cluster.
func (s shelf) BuiltIn(name string) bool {
	return slices.Contains([]string{"default", "kubernetes", "extension-apiserver-authentication"}, name) ||
		strings.HasPrefix(name, "kube-") || strings.HasPrefix(name, "system-")
}

// object names an object of a kind, for the button that deletes it.
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

// deleteObject deletes an object, and what it owns: of a job that would be left,
// unless asked for.
func (p *page) deleteObject(w http.ResponseWriter, r *http.Request, k kind) error {
	in, name := p.named(r, k)
	err := in.Delete(r.Context(), name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)})
	return answer(w, "Deleted "+k.Key()+" "+name, err)
}

func (p *page) scale(w http.ResponseWriter, r *http.Request, k kind) error {
	by, err := strconv.ParseInt(r.URL.Query().Get("by"), 10, 32)
	if !k.Scales() || err != nil {
		return notThere("A " + k.Title + " has no such replicas.")
	}
	in, name := p.named(r, k)
	replicas, err := scaleBy(r.Context(), in, name, by)
	return answer(w, fmt.Sprintf("%s %s: %s", k.Key(), name, report.Plural(int(replicas), "replica")), err)
}

func scaleBy(ctx context.Context, in dynamic.ResourceInterface, name string, by int64) (replicas int64, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		raw, err := in.Get(ctx, name, metav1.GetOptions{}, "scale")
		if err != nil {
			return err
		}
		replicas, _, _ = unstructured.NestedInt64(raw.Object, "spec", "replicas") // 0 is left out
		replicas = max(0, replicas+by)
		if err := unstructured.SetNestedField(raw.Object, replicas, "spec", "replicas"); err != nil {
			return err
		}
		_, err = in.Update(ctx, raw, metav1.UpdateOptions{FieldManager: author}, "scale")
		return err
	})
	return replicas, err
}

// kind is a kind of object that the page has a form for. All are at v1.
type kind struct {
	Group         string
	Title, Plural string // what it is called in the API, Plural in the page's headings
	// Use says in one line what it is for here.
	Use string
}

var kinds = []kind{
	{"", "Node", "Nodes", "a machine that pods may run on"},
	{"", "Pod", "Pods", "what the scheduler finds a node for"},
	{"apps", "Deployment", "Deployments", "so many pods alike, replaced by and by when they change"},
	{"apps", "ReplicaSet", "Replica sets", "so many pods alike"},
	{"apps", "StatefulSet", "Stateful sets", "so many pods in turn, each with claims of its own"},
	{"", "ReplicationController", "Replication controllers", "so many pods alike, as before there were replica sets"},
	{"apps", "DaemonSet", "Daemon sets", "a pod on each node"},
	{"batch", "Job", "Jobs", "pods that come to an end"},
	{"batch", "CronJob", "Cron jobs", "a job every now and then"},
	{"", "Namespace", "Namespaces", "a room of its own for pods and claims"},
	{"scheduling.k8s.io", "PriorityClass", "Priority classes", "which pods go first, and may push others out"},
	{"policy", "PodDisruptionBudget", "Pod disruption budgets", "how many pods preemption should leave alone"},
	{"", "Service", "Services", "which pods belong together, and are spread by default"},
	{"", "ConfigMap", "Config maps", "what programs read; scheduling does not depend on it"},
	{"", "PersistentVolume", "Persistent volumes", "storage, perhaps bound to some nodes"},
	{"", "PersistentVolumeClaim", "Persistent volume claims", "a pod's demand for storage"},
	{"storage.k8s.io", "StorageClass", "Storage classes", "how claims get their volumes, and when"},
}

// Key names the kind in addresses and is the stem of its manifest's file name.
func (k kind) Key() string { return strings.ToLower(k.Title) }

// Scales is true of workloads that have replicas.
func (k kind) Scales() bool {
	return slices.Contains([]string{"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"}, k.Title)
}

// OnOverview is true of kinds that the other objects are not: nodes and pods.
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
			return notThere("There is no form for this kind of object.")
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

type owner struct{ Kind, Key, Namespace, Name string }

// ownerOf is what made a pod, or nil if a person did. Key is empty if the page has
// no form for such.
func ownerOf(pod *v1.Pod) *owner {
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return nil
	}
	of := &owner{Kind: ref.Kind, Namespace: pod.Namespace, Name: ref.Name}
	if k, ok := kindOf(strings.ToLower(ref.Kind)); ok {
		of.Key = k.Key()
	}
	return of
}

// Note is what one wants to know of an object at a glance.
func (k kind) Note(o unstructured.Unstructured) string {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
		if value == nil {
			return ""
		}
		return fmt.Sprint(value)
	}
	number := func(byDefault int, path ...string) int {
		n, err := strconv.Atoi(text(path...))
		if err != nil {
			return byDefault
		}
		return n
	}
	of := func(done, all int, what string) string { return fmt.Sprintf("%d of %d %s", done, all, what) }
	switch k.Title {
	case "DaemonSet":
		return of(number(0, "status", "numberReady"), number(0, "status", "desiredNumberScheduled"), "ready")
	case "Job":
		return of(number(0, "status", "succeeded"), number(1, "spec", "completions"), "succeeded")
	case "CronJob":
		if text("spec", "suspend") == "true" {
			return text("spec", "schedule") + ", suspended"
		}
		return text("spec", "schedule")
	case "PriorityClass":
		return fmt.Sprint("value ", number(0, "value"))
	case "PodDisruptionBudget":
		return fmt.Sprintf("%d of %s may go", number(0, "status", "disruptionsAllowed"), report.Plural(number(0, "status", "expectedPods"), "pod"))
	case "Service":
		selector, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector")
		return labels.Set(selector).String()
	case "ConfigMap":
		data, _, _ := unstructured.NestedMap(o.Object, "data")
		return report.Plural(len(data), "key")
	case "PersistentVolume":
		return text("spec", "capacity", "storage") + ", " + text("status", "phase")
	case "PersistentVolumeClaim":
		return text("spec", "resources", "requests", "storage") + ", " + text("status", "phase")
	case "StorageClass":
		return text("provisioner") + ", " + text("volumeBindingMode")
	}
	if k.Scales() {
		return of(number(0, "status", "readyReplicas"), number(1, "spec", "replicas"), "ready") + failure(o)
	}
	return text("status", "phase")
}

func failure(o unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, condition := range conditions {
		fields, _ := condition.(map[string]any)
		if fields["type"] == "ReplicaFailure" && fields["status"] == "True" {
			return fmt.Sprint(": ", fields["message"])
		}
	}
	return ""
}
