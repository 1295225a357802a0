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

// fit tries what was typed in a copy of the cluster.
func (p *page) fit(w http.ResponseWriter, r *http.Request) error {
	manifests, err := fit.Read([]string{"-"}, strings.NewReader(r.FormValue("text")))
	if err != nil {
		return finish(w, r, "", because(err))
	}
	cluster, err := p.sim.Export(r.Context())
	if err != nil {
		return finish(w, r, "", because(err))
	}
	config, untilFull := p.sim.SchedulerConfig(), r.FormValue("until-full") != ""
	return p.await(w, r, p.jobs.start("Trying whether it fits", func(ctx context.Context, job *job) outcome {
		if !p.inTurn(ctx, job) {
			return stopped
		}
		defer func() { <-p.turn }()
		o, done, err := simulator.WhatIf(config, p.sim.Plugins())
		if err != nil {
			return outcome{Problems: because(err)}
		}
		defer done()
		o.Cluster = cluster
		job.Fitting, err = fit.Fit(ctx, fit.Options{
			Options: o, Manifests: manifests, UntilFull: untilFull, Name: "the configuration that runs",
			Progress: func(step string, done, of int) { job.tell(progress{done, of, []string{step}}) },
		})
		switch {
		case ctx.Err() != nil:
			return stopped
		case err != nil:
			return outcome{Problems: because(err)}
		}
		return outcome{Notice: job.Fitting.Verdict(), Link: fmt.Sprint("/fit/", job.ID)}
	}))
}

// fitted shows what came of it.
func (p *page) fitted(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.get(r.PathValue("id"))
	if one == nil || !one.Ended() || one.Outcome.Link == "" || one.Fitting == nil {
		return notThere("What came of this is not kept any more.")
	}
	return p.show(w, r, "fitted", one.Fitting.Verdict(), "", one.Fitting)
}
