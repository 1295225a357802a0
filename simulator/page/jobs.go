package page

import (
	"net/http"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/jobs"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

// soon is how long a request waits for what it started, so that most answers
// are the result itself and no progress has to be shown.
const soon = 400 * time.Millisecond

// job answers how a job is getting on.
func (p *page) job(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.Get(r.PathValue("id"))
	if one == nil {
		return fragment(w, r, "problems", []typed.Problem{{Message: "nothing is known of this work any more"}})
	}
	return p.await(w, r, one)
}

// cancelJob ends a job early.
func (p *page) cancelJob(w http.ResponseWriter, r *http.Request) error {
	if one := p.jobs.Get(r.PathValue("id")); one != nil {
		one.Cancel() // what came of it is said where its progress is shown
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// await answers with what came of a job if that is known soon, and with its
// progress, which asks again by itself, if not. The query "aside" asks for what
// stands at the edge of the page, when the form is closed.
func (p *page) await(w http.ResponseWriter, r *http.Request, one *jobs.Job) error {
	view := "job"
	if r.URL.Query().Has("aside") {
		view = "aside"
	}
	select {
	case <-one.Finished():
	case <-time.After(soon):
		return fragment(w, r, view, one)
	case <-r.Context().Done():
		return nil
	}
	switch came := one.Outcome(); {
	case came.Link != "" && view == "job":
		w.Header().Set("HX-Redirect", came.Link)
		return nil
	case came.Link != "":
		return fragment(w, r, "aside-link", came)
	case len(came.Remarks) > 0 && len(came.Problems) == 0:
		return fragment(w, r, view+"-remarks", came)
	case view == "job":
		return outcome(w, r, came.Notice, came.Problems)
	case len(came.Problems) > 0:
		return fragment(w, r, "aside-problems", map[string]any{"Title": one.Title, "Problems": came.Problems})
	default:
		notify(w, came.Notice, true)
		return nil
	}
}

// because is an error as a problem of nothing in particular.
func because(err error) []typed.Problem { return []typed.Problem{{Message: err.Error()}} }

// outcome answers a form: its problems, which stand next to the text, or the end of it.
func outcome(w http.ResponseWriter, r *http.Request, notice string, problems []typed.Problem) error {
	if len(problems) == 0 {
		notify(w, notice, true)
	}
	return fragment(w, r, "problems", problems)
}
