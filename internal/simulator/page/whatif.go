package page

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
)

// copied is a copy of the cluster, with a name for reports.
func (p *page) copied(ctx context.Context) (*snapshot.Snapshot, error) {
	cluster, err := p.sim.Export(ctx)
	if err != nil {
		return nil, problemsOf(err)
	}
	cluster.Source = &snapshot.Source{File: "this simulator's cluster"}
	return cluster, nil
}

// try starts a job that tries something in a copy of the cluster, under the current configuration.
// It returns the result in a line. The result itself stays with the job, which has a page for it
// below a path.
func (p *page) try(title, path string, cluster *snapshot.Snapshot, do func(context.Context, *job, engine.Options, engine.Progress) (string, error)) *job {
	config := p.sim.SchedulerConfig()
	return p.whatIf(&job{Title: title}, func(ctx context.Context, job *job) (outcome, error) {
		o, done, err := simulator.WhatIf(config, p.sim.Plugins())
		if err != nil {
			return outcome{}, err
		}
		defer done()
		o.Cluster = cluster
		o.ConfigName = "the current configuration (" + configTitle(config) + ")"
		verdict, err := do(ctx, job, o, func(step string, done, of int) {
			job.report(progress{done, of, []string{step}})
		})
		if err != nil {
			return outcome{}, err
		}
		return outcome{Notice: verdict, Link: fmt.Sprint(path, "/", job.ID)}, nil
	})
}

// tried shows the result of a job that tried something.
func (p *page) tried(w http.ResponseWriter, r *http.Request) error {
	one := p.jobs.get(r.PathValue("id"))
	switch {
	case one == nil || !one.Ended():
	case one.Fitting != nil:
		return p.show(w, r, "fitted", one.Fitting.Verdict(), "", one.Fitting)
	case one.Removal != nil:
		return p.show(w, r, "removed", one.Title, "", one.Removal)
	}
	return notFound("This result is no longer kept.")
}

// removalForm asks about the node of the query, or about all nodes.
func (p *page) removalForm(w http.ResponseWriter, r *http.Request) error {
	node, title := r.URL.Query().Get("node"), "Which nodes can go?"
	if node != "" {
		title = "Where would its pods go?"
	}
	return p.show(w, r, "remove", title, "", map[string]string{"Node": node, "Title": title})
}

// remove drains the node of the form, or finds nodes that can go, in a copy of the cluster.
func (p *page) remove(w http.ResponseWriter, r *http.Request) error {
	cluster, err := p.copied(r.Context())
	if err != nil {
		return err
	}
	form := func(name string) string { return strings.TrimSpace(r.FormValue(name)) }
	o, node := drain.Options{Force: form("force") != ""}, form("node")
	o.Cluster = cluster
	title, remove := "Which nodes can go?", drain.Shrink
	if node != "" {
		title, remove = "Where would the pods of "+node+" go?", drain.Drain
	}
	o.Nodes, err = chosen(cluster, node, form("selector"))
	if err != nil {
		return problemsOf(err)
	}
	bare := o.Bare()
	if node != "" && !o.Force && len(bare) > 0 {
		return problemsOf(fmt.Errorf("no controller recreates these pods: %s; choose “Also recreate pods without a controller” to see where they would go if one did", report.Few(bare)))
	}
	text := form("text")
	if text != "" {
		o.Prices, err = drain.ParsePrices([]byte(text))
		if err == nil {
			err = o.Prices.Check(o.Cluster.Nodes)
		}
		if err != nil {
			return problemsOf(err)
		}
	}
	return p.await(w, r, p.try(title, "/removal", cluster, func(ctx context.Context, job *job, tried engine.Options, progress engine.Progress) (string, error) {
		o.Options, o.Progress = tried, progress
		found, err := remove(ctx, o)
		if err != nil {
			return "", err
		}
		job.Removal = found
		return job.Removal.Verdict(), nil
	}))
}

// chosen is a node of a cluster, or those whose labels a selector matches.
func chosen(cluster *snapshot.Snapshot, node, selector string) (names []string, err error) {
	which, err := labels.Parse(selector)
	if err != nil {
		return nil, err
	}
	for i := range cluster.Nodes {
		one := &cluster.Nodes[i]
		if one.Name == node || node == "" && which.Matches(labels.Set(one.Labels)) {
			names = append(names, one.Name)
		}
	}
	switch {
	case len(names) > 0:
		return slices.Clip(names), nil
	case node != "":
		return nil, fmt.Errorf("node %s does not exist", node)
	case selector != "":
		return nil, fmt.Errorf("no node matches %s", selector)
	}
	return nil, fmt.Errorf("there are no nodes")
}

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
	return p.await(w, r, p.try("Will it fit?", "/fit", cluster, func(ctx context.Context, job *job, tried engine.Options, progress engine.Progress) (string, error) {
		fitting, err := fit.Fit(ctx, fit.Options{Options: tried, Manifests: manifests, UntilFull: untilFull, IgnoreUnknown: true, Progress: progress})
		if err != nil {
			return "", err
		}
		job.Fitting = fitting
		return fitting.Verdict(), nil
	}))
}
