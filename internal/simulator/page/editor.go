package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/yaml"
)

// editor is a form for an object.
type editor struct {
	Title, Hint string
	Action      string // the address that the form is sent to
	Submit      string // the label of its button
	After       string // the page after it, if it is a page of its own
	Kind        kind
	Text        string
	Original    string // the text before an edit: only the difference is sent
	Many        bool   // whether it can create several
	Events      []happening
}

func (p *page) newObject(w http.ResponseWriter, r *http.Request, k kind) error {
	text, err := k.manifest()
	if err != nil {
		return err
	}
	return p.show(w, r, "editor", "New "+k.Title, "", editor{
		Title: "New " + k.Title, Hint: k.Use, Action: "/create", Submit: "Create", After: k.list(), Kind: k, Text: text,
		Many: k.onOverview(),
	})
}

func (p *page) editObject(w http.ResponseWriter, r *http.Request, k kind) error {
	in, name := p.named(r, k)
	found, err := in.Get(r.Context(), name, metav1.GetOptions{})
	if err != nil {
		return notFound(err.Error())
	}
	original, err := yaml.Marshal(editable(k, found))
	if err != nil {
		return err
	}
	return p.show(w, r, "editor", "Edit "+name, "", editor{
		Title: "Edit " + k.Title + " " + name, Hint: "Only your changes are sent.",
		Action: "/update", Submit: "Apply", After: k.list(), Kind: k, Text: p.tried(r, string(original)), Original: string(original),
		Events: p.happened(k.Title, found.GetNamespace(), name),
	})
}

func (k kind) list() string {
	if k.onOverview() {
		return "/"
	}
	return "/objects"
}

// editable is an object without the fields that only the cluster writes.
func editable(k kind, o *unstructured.Unstructured) map[string]any {
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	delete(o.Object, "status")
	if k.Title == "Node" { // people choose its capacity
		maps.DeleteFunc(status, func(field string, _ any) bool { return field != "capacity" && field != "allocatable" })
		o.Object["status"] = status
	}
	return o.Object
}

// author is the field manager of what people change here.
const author = "simulator-page"

func (p *page) create(w http.ResponseWriter, r *http.Request) error {
	docs, wrong := readDocuments(p.text(r))
	if len(wrong) > 0 {
		return wrong
	}
	count := r.FormValue("count")
	if count != "" && count != "1" {
		return p.createMany(w, r, docs)
	}
	var created []string
	for _, d := range docs {
		one, err := p.createOne(r.Context(), d.Unstructured)
		if err != nil {
			return d.problems(err)
		}
		created = append(created, strings.ToLower(one.GetKind())+" "+one.GetName())
	}
	return done(w, r, "Created "+strings.Join(created, ", "))
}

func (p *page) createOne(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	complete(o)
	resource, err := p.client.of(o)
	if err != nil {
		return nil, err
	}
	return resource.Create(ctx, o, metav1.CreateOptions{FieldManager: author, FieldValidation: metav1.FieldValidationStrict})
}

// complete gives a new node its generated name, and the label with its name that a real
// kubelet would set.
func complete(o *unstructured.Unstructured) {
	if o.GetKind() != "Node" {
		return
	}
	if o.GetName() == "" && o.GetGenerateName() != "" {
		o.SetName(o.GetGenerateName() + rand.String(5))
	}
	_ = unstructured.SetNestedField(o.Object, o.GetName(), "metadata", "labels", v1.LabelHostname) // else the API server rejects them
}

const (
	maxMany     = 10_000 // objects that one form creates
	parallelism = 16     // requests at a time
	// placeholder stands in a name pattern for the number.
	placeholder = "{n}"
)

func (p *page) createMany(w http.ResponseWriter, r *http.Request, docs []document) error {
	count, err := strconv.Atoi(r.FormValue("count"))
	pattern := strings.TrimSpace(r.FormValue("pattern"))
	switch {
	case err != nil || count < 1 || count > maxMany:
		return problemsOf(fmt.Errorf("the count must be a number from 1 to %d", maxMany))
	case len(docs) != 1:
		return problemsOf(fmt.Errorf("a count above 1 needs exactly one object; the text has %d", len(docs)))
	case strings.Count(pattern, placeholder) != 1:
		return problemsOf(errors.New("the name pattern must contain " + placeholder + " once, for the number"))
	}
	d := docs[0]
	title := fmt.Sprintf("Creating %d × %s", count, d.GetKind())
	return p.await(w, r, p.jobs.start(title, func(ctx context.Context, job *job) (outcome, error) {
		created, err := p.repeat(ctx, d.Unstructured, pattern, count, job.progress)
		switch {
		case errors.Is(err, context.Canceled):
			return outcome{}, problems{{Message: fmt.Sprintf("stopped: created %d of %d", created, count)}}
		case err != nil:
			before := problem{Message: fmt.Sprintf("created %d of %d before that", created, count)}
			return outcome{}, append(d.problems(err), before)
		}
		return outcome{Notice: fmt.Sprintf("Created %d × %s", created, d.GetKind())}, nil
	}))
}

// repeat creates copies of an object, numbered from 1, until one fails.
func (p *page) repeat(ctx context.Context, o *unstructured.Unstructured, pattern string, count int, progress func(done, of int)) (int, error) {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	var created atomic.Int64
	for n := 1; n <= count && running.Err() == nil; n++ {
		one := o.DeepCopy()
		one.SetName(strings.Replace(pattern, placeholder, strconv.Itoa(n), 1))
		one.SetGenerateName("")
		group.Go(func() error {
			_, err := p.createOne(running, one)
			if err == nil {
				progress(int(created.Add(1)), count)
			}
			return err
		})
	}
	err := cmp.Or(group.Wait(), context.Cause(ctx))
	return int(created.Load()), err
}

// update sends the difference between the text before the edit and the edited one: so it
// keeps what others have changed meanwhile.
func (p *page) update(w http.ResponseWriter, r *http.Request) error {
	before, after, wrong := p.edited(r)
	if len(wrong) > 0 {
		return wrong
	}
	if err := p.patch(r.Context(), before, after); err != nil {
		return after.problems(err)
	}
	return done(w, r, "Changed "+strings.ToLower(after.GetKind())+" "+after.GetName())
}

// edited is the object of a form before the edit and after it.
func (p *page) edited(r *http.Request) (before, after document, wrong problems) {
	original, wrong := readDocuments(r.FormValue("original"))
	text, more := readDocuments(p.text(r))
	wrong = append(wrong, more...)
	if len(wrong) == 0 {
		wrong = otherObject(original, text)
	}
	if len(wrong) > 0 {
		return before, after, wrong
	}
	return original[0], text[0], nil
}

// patch applies the difference of two objects. From the second request the API server takes
// the status, from the first one the rest.
func (p *page) patch(ctx context.Context, before, after document) error {
	diff, err := difference(before, after)
	if err != nil {
		return err
	}
	resource, err := p.client.of(after.Unstructured)
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: author, FieldValidation: metav1.FieldValidationStrict}
	_, err = resource.Patch(ctx, after.GetName(), types.MergePatchType, diff, options)
	if err != nil || reflect.DeepEqual(before.Object["status"], after.Object["status"]) {
		return err
	}
	_, err = resource.Patch(ctx, after.GetName(), types.MergePatchType, diff, options, "status")
	return err
}

func difference(before, after document) ([]byte, error) {
	old, err := before.MarshalJSON()
	if err != nil {
		return nil, err
	}
	edited, err := after.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(old, edited)
}
