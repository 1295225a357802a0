package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/jobs"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

const (
	// maxMany is as many as one form makes.
	maxMany = 10_000
	// atOnce is how many of them are under way at a time.
	atOnce = 16
	// placeholder stands in a name pattern for the number.
	placeholder = "{n}"
)

// createMany makes what was typed many times, under names with a number.
func (p *page) createMany(w http.ResponseWriter, r *http.Request, docs []typed.Document) {
	count, err := strconv.Atoi(r.FormValue("count"))
	pattern := strings.TrimSpace(r.FormValue("pattern"))
	switch {
	case err != nil || count < 1 || count > maxMany:
		p.outcome(w, r, "", []typed.Problem{{Message: fmt.Sprintf("how many: a number from 1 to %d", maxMany)}})
		return
	case len(docs) != 1:
		p.outcome(w, r, "", []typed.Problem{{Message: "many can be made of one object only, and here are " + strconv.Itoa(len(docs))}})
		return
	case strings.Count(pattern, placeholder) != 1:
		p.outcome(w, r, "", []typed.Problem{{Message: "the name pattern must contain " + placeholder + " once, for the number"}})
		return
	}
	d := docs[0]
	title := fmt.Sprintf("Creating %d × %s", count, d.GetKind())
	p.await(w, r, p.jobs.Start(title, func(ctx context.Context, job *jobs.Job) jobs.Outcome {
		made, err := p.repeat(ctx, d.Unstructured, pattern, count, job.Progress)
		came := jobs.Outcome{Notice: fmt.Sprintf("Created %d × %s", made, d.GetKind())}
		switch {
		case errors.Is(err, context.Canceled):
			came.Problems = []typed.Problem{{Message: fmt.Sprintf("stopped: %d of %d were made", made, count)}}
		case err != nil:
			came.Problems = append(d.Refusal(err), typed.Problem{Message: fmt.Sprintf("%d of %d were made before that", made, count)})
		}
		return came
	}))
}

// repeat makes copies of an object, numbered from 1, until one cannot be made.
func (p *page) repeat(ctx context.Context, o *unstructured.Unstructured, pattern string, count int, progress func(done, of int)) (made int, failure error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	numbers := make(chan int)
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range atOnce {
		workers.Go(func() {
			for n := range numbers {
				one := o.DeepCopy()
				one.SetName(strings.Replace(pattern, placeholder, strconv.Itoa(n), 1))
				one.SetGenerateName("")
				if _, err := p.createOne(ctx, one); err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				made++
				progress(made, count)
				mu.Unlock()
			}
		})
	}
	for n := 1; n <= count && ctx.Err() == nil; n++ {
		select {
		case numbers <- n:
		case <-ctx.Done():
		}
	}
	close(numbers)
	workers.Wait()
	return made, context.Cause(ctx)
}
