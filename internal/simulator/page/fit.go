package page

import (
	"context"
	"net/http"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
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
	cluster, err := p.copied(r.Context())
	if err != nil {
		return err
	}
	untilFull := r.FormValue("until-full") != ""
	return p.await(w, r, p.try("Will it fit?", "/fit", cluster, func(ctx context.Context, job *job, tried engine.Options, config string, progress engine.Progress) (string, error) {
		fitting, err := fit.Fit(ctx, fit.Options{Options: tried, Manifests: manifests, UntilFull: untilFull, IgnoreUnknown: true, Name: config, Progress: progress})
		if err != nil {
			return "", err
		}
		job.Fitting = fitting
		return fitting.Verdict(), nil
	}))
}
