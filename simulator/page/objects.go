package page

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// listed is an object of the quieter kinds.
type listed struct {
	Namespace, Name string
	Created         time.Time
	Note            string
	BuiltIn         bool // comes with every cluster
}

// shelf is the objects of one kind.
type shelf struct {
	kind
	Objects []listed
}

// objects shows the kinds other than nodes and pods.
func (p *page) objects(w http.ResponseWriter, r *http.Request) {
	var shelves []shelf
	for _, k := range kinds {
		if k.Key == "node" || k.Key == "pod" {
			continue
		}
		list, err := p.dynamic.Resource(k.Resource).List(r.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			p.fail(w, r, err)
			return
		}
		s := shelf{kind: k}
		for i := range list.Items {
			s.Objects = append(s.Objects, listing(k, &list.Items[i]))
		}
		shelves = append(shelves, s)
	}
	p.show(w, r, "objects", "Other objects", "objects", map[string]any{"Shelves": shelves})
}

// builtIn are names of what comes with every cluster.
var builtIn = []string{"default", "kubernetes", "extension-apiserver-authentication"}

func listing(k kind, o *unstructured.Unstructured) listed {
	return listed{
		Namespace: o.GetNamespace(), Name: o.GetName(), Created: o.GetCreationTimestamp().Time, Note: note(k, o),
		BuiltIn: slices.Contains(builtIn, o.GetName()) || strings.HasPrefix(o.GetName(), "kube-") || strings.HasPrefix(o.GetName(), "system-"),
	}
}

// note is what one wants to know of such an object at a glance.
func note(k kind, o *unstructured.Unstructured) string {
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(o.Object, path...)
		return s
	}
	if k.Makes {
		return progress(k, o)
	}
	switch k.Key {
	case "priorityclass":
		value, _, _ := unstructured.NestedInt64(o.Object, "value")
		return "value " + strconv.FormatInt(value, 10)
	case "poddisruptionbudget":
		number := func(field string) int64 { n, _, _ := unstructured.NestedInt64(o.Object, "status", field); return n }
		return fmt.Sprintf("%d of %s may go", number("disruptionsAllowed"), plural(int(number("expectedPods")), "pod"))
	case "service":
		selector, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector")
		return labels.Set(selector).String()
	case "configmap":
		data, _, _ := unstructured.NestedMap(o.Object, "data")
		return plural(len(data), "key")
	case "persistentvolume":
		return text("spec", "capacity", "storage") + ", " + text("status", "phase")
	case "persistentvolumeclaim":
		return text("spec", "resources", "requests", "storage") + ", " + text("status", "phase")
	case "storageclass":
		return text("provisioner") + ", " + text("volumeBindingMode")
	}
	return text("status", "phase")
}

// object names an object of a kind, for the button that deletes it.
type object struct {
	kind
	Namespace, Name string
}

// objectOf takes a shelf, or a kind's key.
func objectOf(k any, namespace, name string) object {
	o := object{Namespace: namespace, Name: name}
	switch k := k.(type) {
	case shelf:
		o.kind = k.kind
	case string:
		o.kind, _ = kindOf(k)
	}
	return o
}
