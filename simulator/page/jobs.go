package page

import (
	"net/http"
	"strconv"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/jobs"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

// soon is how long a request waits for what it started, so that most answers
// are the result itself and no progress has to be shown.
const soon = 400 * time.Millisecond

// job answers how a job is getting on.
func (p *page) job(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	one := p.jobs.Get(id)
	if one == nil {
		p.fragment(w, r, http.StatusOK, "problems", []typed.Problem{{Message: "nothing is known of this work any more"}})
		return
	}
	p.await(w, r, one)
}

// cancelJob ends a job early.
func (p *page) cancelJob(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	if one := p.jobs.Get(id); one != nil {
		one.Cancel() // what came of it is said where its progress is shown
	}
	w.WriteHeader(http.StatusNoContent)
}

// await answers with what came of a job if that is known soon, and with its
// progress, which asks again by itself, if not. The query "aside" asks for what
// stands at the edge of the page, when the form is closed.
func (p *page) await(w http.ResponseWriter, r *http.Request, one *jobs.Job) {
	view := "job"
	if r.URL.Query().Has("aside") {
		view = "aside"
	}
	select {
	case <-one.Finished():
	case <-time.After(soon):
		p.fragment(w, r, http.StatusOK, view, one)
		return
	case <-r.Context().Done():
		return
	}
	switch came := one.Outcome(); {
	case came.Link != "" && view == "job":
		w.Header().Set("HX-Redirect", came.Link)
	case came.Link != "":
		p.fragment(w, r, http.StatusOK, "aside-link", map[string]any{"Title": came.Notice, "Link": came.Link})
	case len(came.Remarks) > 0 && len(came.Problems) == 0:
		p.fragment(w, r, http.StatusOK, view+"-remarks", map[string]any{"Title": came.Notice, "Remarks": came.Remarks})
	case view == "job":
		p.outcome(w, r, came.Notice, came.Problems)
	case len(came.Problems) > 0:
		p.fragment(w, r, http.StatusOK, "aside-problems", map[string]any{"Title": one.Title, "Problems": came.Problems})
	default:
		notify(w, came.Notice, true)
	}
}

// because is an error as a problem of nothing in particular.
func because(err error) []typed.Problem { return []typed.Problem{{Message: err.Error()}} }

// outcome answers a form: its problems beside the text, or the end of it.
func (p *page) outcome(w http.ResponseWriter, r *http.Request, notice string, problems []typed.Problem) {
	if len(problems) > 0 {
		p.fragment(w, r, http.StatusOK, "problems", problems)
		return
	}
	notify(w, notice, true)
	p.fragment(w, r, http.StatusOK, "problems", []typed.Problem(nil))
}
