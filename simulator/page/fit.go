package page

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/whatif/fit"
)

func (p *page) fitForm(w http.ResponseWriter, r *http.Request) error {
	k, _ := kindOf("deployment")
	text, err := k.manifest()
	if err != nil {
		return err
	}
	return p.show(w, r, "fit", "Will it fit?", "", text)
}

// fit schedules the pods of manifests in a copy of the cluster.
func (p *page) fit(w http.ResponseWriter, r *http.Request) error {
	manifests, err := fit.Read([]string{"-"}, strings.NewReader(r.FormValue("text")))
	if err != nil {
		return problemsOf(err)
	}
	cluster, err := p.sim.Export(r.Context())
	if err != nil {
		return problemsOf(err)
	}
	config, untilFull := p.sim.SchedulerConfig(), r.FormValue("until-full") != ""
	return p.await(w, r, p.whatIf(&job{Title: "Will it fit?"}, func(ctx context.Context, job *job) (outcome, error) {
		o, done, err := simulator.WhatIf(config, p.sim.Plugins())
		if err != nil {
			return outcome{}, err
		}
		defer done()
		o.Cluster = cluster
		job.Fitting, err = fit.Fit(ctx, fit.Options{
			Options: o, Manifests: manifests, UntilFull: untilFull, Name: "the current configuration",
			Progress: func(step string, done, of int) { job.report(progress{done, of, []string{step}}) },
		})
		if err != nil {
			return outcome{}, err
		}
		return outcome{Notice: job.Fitting.Verdict(), Link: fmt.Sprint("/fit/", job.ID)}, nil
	}))
}

func (p *page) fitted(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.get(r.PathValue("id"))
	if one == nil || !one.Ended() || one.Outcome.Link == "" || one.Fitting == nil {
		return notFound("This result is no longer kept.")
	}
	return p.show(w, r, "fitted", one.Fitting.Verdict(), "", one.Fitting)
}
