package page

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare/report"
)

// shelf is the objects of one kind.
type shelf struct {
	kind
	Objects []unstructured.Unstructured
}

// objects shows the kinds other than nodes and pods.
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

// scale gives a workload one replica more or less.
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
