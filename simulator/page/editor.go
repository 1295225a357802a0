package page

import (
	"cmp"
	"maps"
	"net/http"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// editor is a form with a text in it.
type editor struct {
	Title, Hint string
	Action      string // where the form is sent to
	Submit      string // what its button says
	After       string // where to go once it is done, if it is a page of its own
	Kind        kind
	Text        string
	// Original is what an edit started from: only the difference is sent.
	Original string
	// Many offers to make more than one.
	Many bool
	// Annotations are the keys that the scheduler reads of a pod, Excluding those of
	// what to exclude.
	Annotations, Excluding []string
}

// newObject is the form for a new object.
func (p *page) newObject(w http.ResponseWriter, r *http.Request, k kind) error {
	text, err := k.manifest()
	if err != nil {
		return err
	}
	keys, excluding := p.sim.Annotations(v1.DefaultSchedulerName)
	return p.show(w, r, "editor", "New "+k.Title, "", editor{
		Title: "New " + k.Title, Hint: k.Use, Action: "/create", Submit: "Create", After: k.list(), Kind: k, Text: text,
		Many: k.onOverview(), Annotations: keys, Excluding: excluding,
	})
}

// editObject is the form for an object that exists.
func (p *page) editObject(w http.ResponseWriter, r *http.Request, k kind) error {
	in, name := p.named(r, k)
	found, err := in.Get(r.Context(), name, metav1.GetOptions{})
	if err != nil {
		return notThere(err.Error())
	}
	text, err := yaml.Marshal(editable(k, found))
	if err != nil {
		return err
	}
	keys, excluding := p.sim.Annotations(schedulerOf(found))
	return p.show(w, r, "editor", "Edit "+name, "", editor{
		Title: "Edit " + k.Title + " " + name, Hint: "Only what you change is sent.",
		Action: "/update", Submit: "Apply", After: k.home(found), Kind: k, Text: string(text), Original: string(text),
		Annotations: keys, Excluding: excluding,
	})
}

// list is the page that shows all objects of the kind.
func (k kind) list() string {
	if k.onOverview() {
		return "/"
	}
	return "/objects"
}

// home is the page that shows an object.
func (k kind) home(o *unstructured.Unstructured) string {
	switch k.Title {
	case "Node":
		return nodeURL(o.GetName())
	case "Pod":
		return podURL(o.GetNamespace(), o.GetName())
	}
	return k.list()
}

// schedulerOf is the scheduler that a pod asks for.
func schedulerOf(pod *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(pod.Object, "spec", "schedulerName")
	return cmp.Or(name, v1.DefaultSchedulerName)
}

// editable is an object without what only the cluster writes.
func editable(k kind, o *unstructured.Unstructured) map[string]any {
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	delete(o.Object, "status")
	if k.Title == "Node" { // its size is for people to choose
		maps.DeleteFunc(status, func(field string, _ any) bool { return field != "capacity" && field != "allocatable" })
		o.Object["status"] = status
	}
	return o.Object
}
