package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

// maxText bounds what a form may send: a file of 5,000 pods is some 20 MB.
const maxText = 64 << 20

// author is the field manager under which people change things here.
const author = "simulator-page"

// create makes what was typed, once or many times.
func (p *page) create(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxText)
	docs, problems := typed.Read(r.FormValue("text"))
	if len(problems) == 0 && r.FormValue("count") != "" && r.FormValue("count") != "1" {
		p.createMany(w, r, docs)
		return
	}
	var made []string
	for _, d := range docs {
		if len(problems) > 0 {
			break
		}
		name, err := p.createOne(r.Context(), d.Unstructured)
		if err != nil {
			problems = d.Refusal(err)
			break
		}
		made = append(made, name)
	}
	p.outcome(w, r, "Created "+strings.Join(made, ", "), problems)
}

// createOne makes an object, and returns what to call it.
func (p *page) createOne(ctx context.Context, o *unstructured.Unstructured) (string, error) {
	complete(o)
	resource, err := p.resourceOf(o)
	if err != nil {
		return "", err
	}
	made, err := resource.Create(ctx, o, metav1.CreateOptions{FieldManager: author, FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		return "", err
	}
	return strings.ToLower(made.GetKind()) + " " + made.GetName(), nil
}

// complete gives a new node a name, if it leaves that open, and the label with
// it that the kubelet of a real one would set.
func complete(o *unstructured.Unstructured) {
	if o.GetKind() != "Node" {
		return
	}
	if o.GetName() == "" && o.GetGenerateName() != "" {
		o.SetName(o.GetGenerateName() + rand.String(5))
	}
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1.LabelHostname] = o.GetName()
	o.SetLabels(labels)
}

// resourceOf finds where an object is to be sent to.
func (p *page) resourceOf(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := p.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	resource := p.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return resource, nil
	}
	if o.GetNamespace() == "" {
		if o.Object["metadata"] == nil { // typed, with nothing in it
			o.Object["metadata"] = map[string]any{}
		}
		o.SetNamespace(metav1.NamespaceDefault)
	}
	return resource.Namespace(o.GetNamespace()), nil
}

// update sends the difference between what the form started from and what was
// typed, so that whatever else has changed meanwhile stays as it is.
func (p *page) update(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxText)
	before, problems := typed.Read(r.FormValue("original"))
	after, more := typed.Read(r.FormValue("text"))
	if problems = append(problems, more...); len(problems) > 0 {
		p.outcome(w, r, "", problems)
		return
	}
	if problems := typed.Another(before, after); len(problems) > 0 {
		p.outcome(w, r, "", problems)
		return
	}
	if err := p.patch(r.Context(), before[0], after[0]); err != nil {
		p.outcome(w, r, "", typed.EditRefusal(before[0], after[0], err))
		return
	}
	p.outcome(w, r, "Changed "+strings.ToLower(after[0].GetKind())+" "+after[0].GetName(), nil)
}

// patch applies a difference, that of the status apart, as the API server wants it.
func (p *page) patch(ctx context.Context, before, after typed.Document) error {
	resource, err := p.resourceOf(after.Unstructured)
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: author, FieldValidation: metav1.FieldValidationStrict}
	for _, subresources := range [][]string{nil, {"status"}} {
		diff, err := difference(before.Object, after.Object, len(subresources) > 0)
		if err != nil || diff == nil {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := resource.Patch(ctx, after.GetName(), types.MergePatchType, diff, options, subresources...); err != nil {
			return err
		}
	}
	return nil
}

// difference is a JSON merge patch, of the status only or of everything else, or
// nil if nothing differs.
func difference(before, after map[string]any, status bool) ([]byte, error) {
	var sides [2][]byte
	for i, object := range []map[string]any{before, after} {
		part := map[string]any{}
		for key, value := range object {
			if (key == "status") == status {
				part[key] = value
			}
		}
		raw, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("compare with the original: %w", err)
		}
		sides[i] = raw
	}
	diff, err := jsonmergepatch.CreateThreeWayJSONMergePatch(sides[0], sides[1], sides[0])
	if err != nil {
		return nil, fmt.Errorf("compare with the original: %w", err)
	}
	if string(diff) == "{}" {
		return nil, nil
	}
	return diff, nil
}

// deleteObject deletes an object, and what it owns: of a job that would be left,
// unless asked for.
func (p *page) deleteObject(w http.ResponseWriter, r *http.Request) {
	k, ok := kindOf(r.PathValue("kind"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	q := r.URL.Query()
	withOwned := metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	err := p.dynamic.Resource(k.Resource).Namespace(q.Get("namespace")).Delete(r.Context(), q.Get("name"), withOwned)
	if err != nil {
		notify(w, err.Error(), false)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	notify(w, "Deleted "+strings.ToLower(k.Title)+" "+q.Get("name"), true)
	w.WriteHeader(http.StatusNoContent)
}
