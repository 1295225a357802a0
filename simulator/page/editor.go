package page

import (
	"cmp"
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
	// Regex offers the annotation, with a preview. Annotations are the keys that
	// the scheduler reads, Excluding those of what to exclude.
	Regex                  bool
	Annotations, Excluding []string
}

// newObject is the form for a new object.
func (p *page) newObject(w http.ResponseWriter, r *http.Request) {
	k, ok := kindOf(r.PathValue("kind"))
	if !ok {
		p.gone(w, r, "There is no form for this kind of object.")
		return
	}
	text, err := k.manifest()
	if err != nil {
		p.fail(w, r, err)
		return
	}
	keys, excluding := p.sim.Annotations(v1.DefaultSchedulerName)
	p.show(w, r, "editor", "New "+k.Title, "", editor{
		Title: "New " + k.Title, Hint: k.Use, Action: "/create", Submit: "Create", After: k.list(), Kind: k, Text: text,
		Many: k.Key == "node" || k.Key == "pod", Regex: k.Key == "pod", Annotations: keys, Excluding: excluding,
	})
}

// editObject is the form for an object that exists.
func (p *page) editObject(w http.ResponseWriter, r *http.Request) {
	k, ok := kindOf(r.PathValue("kind"))
	if !ok {
		p.gone(w, r, "There is no form for this kind of object.")
		return
	}
	q := r.URL.Query()
	found, err := p.dynamic.Resource(k.Resource).Namespace(q.Get("namespace")).Get(r.Context(), q.Get("name"), metav1.GetOptions{})
	if err != nil {
		p.gone(w, r, err.Error())
		return
	}
	raw, err := yaml.Marshal(editable(k, found))
	if err != nil {
		p.fail(w, r, err)
		return
	}
	text := string(raw)
	keys, excluding := p.sim.Annotations(schedulerOf(found))
	p.show(w, r, "editor", "Edit "+found.GetName(), "", editor{
		Title: "Edit " + k.Title + " " + found.GetName(), Hint: "Only what you change is sent.",
		Action: "/update", Submit: "Apply", After: k.home(found), Kind: k, Text: text, Original: text,
		Regex: k.Key == "pod", Annotations: keys, Excluding: excluding,
	})
}

// list is the page that shows all objects of the kind.
func (k kind) list() string {
	if k.Key == "node" || k.Key == "pod" {
		return "/"
	}
	return "/objects"
}

// home is the page that shows an object.
func (k kind) home(o *unstructured.Unstructured) string {
	switch k.Key {
	case "node":
		return nodeURL(o.GetName())
	case "pod":
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
	object := o.DeepCopy().Object
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink"} {
		unstructured.RemoveNestedField(object, "metadata", field)
	}
	status, _, _ := unstructured.NestedMap(object, "status")
	delete(object, "status")
	if k.Key == "node" { // its size is for people to choose
		kept := map[string]any{}
		for _, field := range []string{"capacity", "allocatable"} {
			if value, ok := status[field]; ok {
				kept[field] = value
			}
		}
		object["status"] = kept
	}
	return object
}
