package page

import (
	"cmp"
	"context"
	"encoding/json"
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

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

type editor struct {
	Title, Hint string
	Action      string // where the form is sent to
	Submit      string // what its button says
	After       string // where to go once it is done, if it is a page of its own
	Kind        kind
	Text        string
	Original    string // what an edit started from: only the difference is sent
	// Many offers to make more than one.
	Many bool
	// Annotations are the keys that the scheduler reads of a pod, Excluding those of
	// what to exclude.
	Annotations, Excluding []string
}

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

func (k kind) list() string {
	if k.onOverview() {
		return "/"
	}
	return "/objects"
}

func (k kind) home(o *unstructured.Unstructured) string {
	switch k.Title {
	case "Node":
		return nodeURL(o.GetName())
	case "Pod":
		return podURL(o.GetNamespace(), o.GetName())
	}
	return k.list()
}

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

// author is the field manager under which people change things here.
const author = "simulator-page"

func (p *page) create(w http.ResponseWriter, r *http.Request) error {
	docs, problems := typed.Read(r.FormValue("text"))
	if count := r.FormValue("count"); len(problems) == 0 && count != "" && count != "1" {
		return p.createMany(w, r, docs)
	}
	var made []string
	for i := 0; i < len(docs) && len(problems) == 0; i++ {
		one, err := p.createOne(r.Context(), docs[i].Unstructured)
		if err != nil {
			problems = docs[i].Refusal(err)
			break
		}
		made = append(made, strings.ToLower(one.GetKind())+" "+one.GetName())
	}
	return finish(w, r, "Created "+strings.Join(made, ", "), problems)
}

func (p *page) createOne(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	complete(o)
	resource, err := p.client.Of(o)
	if err != nil {
		return nil, err
	}
	return resource.Create(ctx, o, metav1.CreateOptions{FieldManager: author, FieldValidation: metav1.FieldValidationStrict})
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

const (
	maxMany     = 10_000 // as many as one form makes
	parallelism = 16     // how many of them are made at a time
	// placeholder stands in a name pattern for the number.
	placeholder = "{n}"
)

func (p *page) createMany(w http.ResponseWriter, r *http.Request, docs []typed.Document) error {
	count, err := strconv.Atoi(r.FormValue("count"))
	pattern := strings.TrimSpace(r.FormValue("pattern"))
	switch {
	case err != nil || count < 1 || count > maxMany:
		return finish(w, r, "", because(fmt.Errorf("how many: a number from 1 to %d", maxMany)))
	case len(docs) != 1:
		return finish(w, r, "", because(fmt.Errorf("many can be made of one object only, and here are %d", len(docs))))
	case strings.Count(pattern, placeholder) != 1:
		return finish(w, r, "", because(errors.New("the name pattern must contain "+placeholder+" once, for the number")))
	}
	d := docs[0]
	title := fmt.Sprintf("Creating %d × %s", count, d.GetKind())
	return p.await(w, r, p.jobs.start(title, func(ctx context.Context, job *job) outcome {
		made, err := p.repeat(ctx, d.Unstructured, pattern, count, job.progress)
		came := outcome{Notice: fmt.Sprintf("Created %d × %s", made, d.GetKind())}
		switch {
		case errors.Is(err, context.Canceled):
			came.Problems = because(fmt.Errorf("stopped: %d of %d were made", made, count))
		case err != nil:
			came.Problems = append(d.Refusal(err), typed.Problem{Message: fmt.Sprintf("%d of %d were made before that", made, count)})
		}
		return came
	}))
}

// repeat makes copies of an object, numbered from 1, until one cannot be made.
func (p *page) repeat(ctx context.Context, o *unstructured.Unstructured, pattern string, count int, progress func(done, of int)) (int, error) {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	var made atomic.Int64
	for n := 1; n <= count && running.Err() == nil; n++ {
		one := o.DeepCopy()
		one.SetName(strings.Replace(pattern, placeholder, strconv.Itoa(n), 1))
		one.SetGenerateName("")
		group.Go(func() error {
			_, err := p.createOne(running, one)
			if err == nil {
				progress(int(made.Add(1)), count)
			}
			return err
		})
	}
	err := cmp.Or(group.Wait(), context.Cause(ctx))
	return int(made.Load()), err
}

// update sends the difference between what the form started from and what was
// typed, so that whatever else has changed meanwhile stays as it is.
func (p *page) update(w http.ResponseWriter, r *http.Request) error {
	before, problems := typed.Read(r.FormValue("original"))
	after, more := typed.Read(r.FormValue("text"))
	if problems = append(problems, more...); len(problems) == 0 {
		problems = typed.Another(before, after)
	}
	if len(problems) > 0 {
		return finish(w, r, "", problems)
	}
	if err := p.patch(r.Context(), before[0], after[0]); err != nil {
		return finish(w, r, "", typed.EditRefusal(before[0], after[0], err))
	}
	return finish(w, r, "Changed "+strings.ToLower(after[0].GetKind())+" "+after[0].GetName(), nil)
}

// patch applies the difference of two objects. The API server takes from it what is of
// the status there, and what is not here.
func (p *page) patch(ctx context.Context, before, after typed.Document) error {
	resource, err := p.client.Of(after.Unstructured)
	if err != nil {
		return err
	}
	diff, err := difference(before.Object, after.Object)
	if err != nil {
		return fmt.Errorf("compare with the original: %w", err)
	}
	options := metav1.PatchOptions{FieldManager: author, FieldValidation: metav1.FieldValidationStrict}
	_, err = resource.Patch(ctx, after.GetName(), types.MergePatchType, diff, options)
	if err != nil || reflect.DeepEqual(before.Object["status"], after.Object["status"]) {
		return err
	}
	_, err = resource.Patch(ctx, after.GetName(), types.MergePatchType, diff, options, "status")
	return err
}

func difference(before, after map[string]any) ([]byte, error) {
	old, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	now, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(old, now)
}
