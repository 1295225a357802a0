package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

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

// found is the result of a what-if for people. Nodes, if there are any, go by the command.
type found struct {
	report.Report
	Command, Again string
}

// try starts a job that tries something in a copy of the cluster, under the current configuration. Again is the
// address of its form.
func (p *page) try(title, again string, cluster *snapshot.Snapshot, do func(context.Context, engine.Options, engine.Progress) (found, error)) *job {
	config := p.sim.SchedulerConfig()
	return p.whatIf(&job{Title: title, Again: again}, func(ctx context.Context, job *job) (outcome, error) {
		o, done, err := p.sim.WhatIf(config)
		if err != nil {
			return outcome{}, err
		}
		defer done()
		o.Cluster = cluster
		o.ConfigName = "the current configuration (" + configTitle(config) + ")"
		result, err := do(ctx, o, func(step string, done, of int) {
			job.report(progress{done, of, []string{step}})
		})
		if err != nil {
			return outcome{}, err
		}
		result.Again = again
		result.Answer = strings.TrimSuffix(result.Answer, ".")
		html, err := execute("result", result)
		return outcome{Notice: result.Answer, Link: job.URL()}, errors.Join(err, job.keep(html))
	})
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
	title, again, remove := "Which nodes can go?", "/removal", drain.Shrink
	if node != "" {
		title, again, remove = "Where would the pods of "+node+" go?", "/removal?node="+url.QueryEscape(node), drain.Drain
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
	return p.await(w, r, p.try(title, again, cluster, func(ctx context.Context, tried engine.Options, progress engine.Progress) (found, error) {
		o.Options, o.Progress = tried, progress
		result, err := remove(ctx, o)
		if err != nil {
			return found{}, err
		}
		return p.removed(result, o.Force), nil
	}))
}

// removed is the report of the command line, with a table of the nodes that go and the command that drains them.
func (p *page) removed(result *drain.Result, force bool) (f found) {
	f.Report = result.Report("")
	if len(result.Go) == 0 {
		return f
	}
	rows := [][]string{{"NODE", "ZONE, INSTANCE TYPE", "PODS"}}
	byName := p.cluster.now().byName
	for _, name := range result.Go {
		row := []string{name, "", ""}
		n := byName[name]
		if n != nil {
			row = []string{name, strings.Join(n.Place(), " · "), strconv.Itoa(len(n.Pods))}
		}
		rows = append(rows, row)
	}
	f.Sections = slices.Insert(f.Sections, 0, report.Section{ID: "go", Title: "Nodes that go", Rows: rows})
	f.Command = "kubectl drain --ignore-daemonsets --delete-emptydir-data "
	if force {
		f.Command += "--force "
	}
	f.Command += strings.Join(result.Go, " ")
	return f
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
	what := r.FormValue("what")
	ask := fit.Fit
	if what == "rollout" {
		ask = fit.Rollout
	}
	return p.await(w, r, p.try("Will it fit?", "/fit", cluster, func(ctx context.Context, tried engine.Options, progress engine.Progress) (found, error) {
		fitting, err := ask(ctx, fit.Options{Options: tried, Manifests: manifests, UntilFull: what == "until-full", IgnoreUnknown: true, Progress: progress})
		if err != nil {
			return found{}, err
		}
		var rows [][]string
		for _, of := range fitting.Workloads {
			for _, name := range slices.Sorted(maps.Keys(of.Pods)) {
				rows = append(rows, []string{of.Namespace + "/" + name, cmp.Or(of.Pods[name], "pending")})
			}
		}
		f := found{Report: fitting.Report(false)}
		f.Sections = append(f.Sections, report.Table("Pods that were tried", []string{"REPLICA", "NODE"}, rows))
		return f, nil
	}))
}
