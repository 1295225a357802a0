package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
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

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/jobs"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

// author is the field manager under which people change things here.
const author = "simulator-page"

// create makes what was typed, once or many times.
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
	return outcome(w, r, "Created "+strings.Join(made, ", "), problems)
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
	// maxMany is as many as one form makes.
	maxMany = 10_000
	// parallelism is how many of them are made at a time.
	parallelism = 16
	// placeholder stands in a name pattern for the number.
	placeholder = "{n}"
)

// createMany makes what was typed many times, under names with a number.
func (p *page) createMany(w http.ResponseWriter, r *http.Request, docs []typed.Document) error {
	count, err := strconv.Atoi(r.FormValue("count"))
	pattern := strings.TrimSpace(r.FormValue("pattern"))
	switch {
	case err != nil || count < 1 || count > maxMany:
		return outcome(w, r, "", because(fmt.Errorf("how many: a number from 1 to %d", maxMany)))
	case len(docs) != 1:
		return outcome(w, r, "", because(fmt.Errorf("many can be made of one object only, and here are %d", len(docs))))
	case strings.Count(pattern, placeholder) != 1:
		return outcome(w, r, "", because(errors.New("the name pattern must contain "+placeholder+" once, for the number")))
	}
	d := docs[0]
	title := fmt.Sprintf("Creating %d × %s", count, d.GetKind())
	return p.await(w, r, p.jobs.Start(title, func(ctx context.Context, job *jobs.Job) jobs.Outcome {
		made, err := p.repeat(ctx, d.Unstructured, pattern, count, job.Progress)
		came := jobs.Outcome{Notice: fmt.Sprintf("Created %d × %s", made, d.GetKind())}
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
		return outcome(w, r, "", problems)
	}
	if err := p.patch(r.Context(), before[0], after[0]); err != nil {
		return outcome(w, r, "", typed.EditRefusal(before[0], after[0], err))
	}
	return outcome(w, r, "Changed "+strings.ToLower(after[0].GetKind())+" "+after[0].GetName(), nil)
}

// patch applies a difference, that of the status apart, as the API server wants it.
func (p *page) patch(ctx context.Context, before, after typed.Document) error {
	resource, err := p.client.Of(after.Unstructured)
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: author, FieldValidation: metav1.FieldValidationStrict}
	for _, subresources := range [][]string{nil, {"status"}} {
		diff, err := difference(before.Object, after.Object, len(subresources) > 0)
		if err == nil && diff != nil {
			_, err = resource.Patch(ctx, after.GetName(), types.MergePatchType, diff, options, subresources...)
		}
		if err != nil {
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
		part := maps.Clone(object)
		maps.DeleteFunc(part, func(key string, _ any) bool { return (key == "status") != status })
		var err error
		if sides[i], err = json.Marshal(part); err != nil {
			return nil, fmt.Errorf("compare with the original: %w", err)
		}
	}
	diff, err := jsonpatch.CreateMergePatch(sides[0], sides[1])
	if err != nil {
		return nil, fmt.Errorf("compare with the original: %w", err)
	}
	if string(diff) == "{}" {
		return nil, nil
	}
	return diff, nil
}
