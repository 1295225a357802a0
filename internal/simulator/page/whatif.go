package page

import (
	"bytes"
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
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
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
	Notices        []string // on what was tried
	Command, Again string
}

// try starts a job that tries something in a copy of the cluster, under the current configuration, and awaits it.
func (p *page) try(w http.ResponseWriter, r *http.Request, one *job, do func(context.Context, engine.Options, engine.Progress) (found, error)) error {
	cluster, err := p.copied(r.Context())
	if err != nil {
		return err
	}
	config := p.sim.SchedulerConfig()
	return p.await(w, r, p.whatIf(one, func(ctx context.Context, job *job) (outcome, error) {
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
		result.Again = job.Form()
		result.Answer = strings.TrimSuffix(result.Answer, ".")
		job.result, err = execute("result", result)
		return outcome{Notice: result.Answer, Link: job.URL()}, err
	}))
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
	form := func(name string) string { return strings.TrimSpace(r.FormValue(name)) }
	node, selector, prices, force := form("node"), form("selector"), form("text"), form("force") != ""
	one := &job{Title: "Which nodes can go?", Again: "/removal"}
	if node != "" {
		one = &job{Title: "Where would the pods of " + node + " go?", Again: "/removal?node=" + url.QueryEscape(node)}
	}
	return p.try(w, r, one, func(ctx context.Context, tried engine.Options, progress engine.Progress) (found, error) {
		nodes, err := chosen(tried.Cluster, node, selector)
		if err != nil {
			return found{}, err
		}
		o := drain.Options{Options: tried, Nodes: nodes, Force: force, Progress: progress}
		if prices != "" {
			o.Prices, err = drain.ParsePrices([]byte(prices))
			if err == nil {
				err = o.Prices.Check(o.Cluster.Nodes)
			}
			if err != nil {
				return found{}, err
			}
		}
		remove := drain.Shrink
		if node != "" {
			remove = drain.Drain
			bare := o.Bare()
			if !force && len(bare) > 0 {
				return found{}, fmt.Errorf("no controller recreates these pods: %s; choose “Also recreate pods without a controller” to see where they would go if one did", report.Few(bare))
			}
		}
		result, err := remove(ctx, o)
		if err != nil {
			return found{}, err
		}
		return p.removed(result, force), nil
	})
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
	command := []string{"kubectl", "drain", "--ignore-daemonsets", "--delete-emptydir-data"}
	if force {
		command = append(command, "--force")
	}
	f.Command = cli.Shell(command, result.Go...)
	return f
}

// chosen is a node of a cluster, or the ones whose labels a selector matches, or without it all but those of the control plane.
func chosen(cluster *snapshot.Snapshot, node, selector string) (names []string, err error) {
	which, err := labels.Parse(selector)
	if err != nil {
		return nil, err
	}
	if node == "" && selector == "" {
		names = drain.Workers(cluster)
		if len(names) == 0 {
			return nil, errors.New("no node may go: without a selector, those of the control plane may not")
		}
		return names, nil
	}
	for _, one := range cluster.Nodes {
		if one.Name == node || node == "" && which.Matches(labels.Set(one.Labels)) {
			names = append(names, one.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no such node: %s", cmp.Or(node, selector))
	}
	return names, nil
}

func (p *page) whyForm(w http.ResponseWriter, r *http.Request) error {
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	return p.show(w, r, "why-form", "What would help?", "pods", podURL(namespace, name))
}

// why tries changes that may help a pending pod, in a copy of the cluster.
func (p *page) why(w http.ResponseWriter, r *http.Request) error {
	pod := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	one := &job{Title: "What would help pod " + pod.String() + "?", Again: podURL(pod.Namespace, pod.Name) + "/why"}
	return p.try(w, r, one, func(ctx context.Context, tried engine.Options, progress engine.Progress) (found, error) {
		result, err := why.Why(ctx, why.Options{Options: tried, Pod: pod, Progress: progress})
		if err != nil {
			return found{}, err
		}
		return found{Report: result.Report()}, nil
	})
}

func (p *page) fitForm(w http.ResponseWriter, r *http.Request) error {
	k, _ := kindOf("deployment")
	text, err := k.manifest()
	if err != nil {
		return err
	}
	return p.show(w, r, "fit", "Will it fit?", "", p.tried(r, text))
}

// fit schedules the pods of manifests in a copy of the cluster.
func (p *page) fit(w http.ResponseWriter, r *http.Request) error {
	return p.tryManifests(w, r, &job{Title: "Will it fit?", Again: "/fit", Tried: r.FormValue("text")}, r.FormValue("what"))
}

// rollout tries the edit of a workload in a copy of the cluster.
func (p *page) rollout(w http.ResponseWriter, r *http.Request) error {
	_, after, wrong := p.edited(r)
	if len(wrong) > 0 {
		return wrong
	}
	again := editURL(strings.ToLower(after.GetKind()), after.GetNamespace(), after.GetName())
	return p.tryManifests(w, r, &job{Title: "Will the rollout end?", Again: again, Tried: p.text(r)}, "rollout")
}

func (p *page) tryManifests(w http.ResponseWriter, r *http.Request, one *job, what string) error {
	manifests, err := fit.Read([]string{"-"}, strings.NewReader(one.Tried), fit.Namespace{})
	if err != nil {
		return problemsOf(err)
	}
	ask := fit.Fit
	if what == "rollout" {
		ask = fit.Rollout
	}
	return p.try(w, r, one, func(ctx context.Context, tried engine.Options, progress engine.Progress) (found, error) {
		fitting, err := ask(ctx, fit.Options{Options: tried, Manifests: manifests, UntilFull: what == "until-full", IgnoreUnknown: true, Progress: progress})
		if err != nil {
			return found{}, err
		}
		return fitted(fitting, manifests), nil
	})
}

// fitted is the report of the command line, with its notices on the manifests and a table of the pods.
func fitted(fitting *fit.Fitting, manifests *fit.Manifests) (f found) {
	var rows [][]string
	for _, of := range fitting.Workloads {
		for _, name := range slices.Sorted(maps.Keys(of.Pods)) {
			rows = append(rows, []string{of.Namespace + "/" + name, cmp.Or(of.Pods[name], "pending")})
		}
	}
	f.Report = fitting.Report(false)
	f.Sections = append(f.Sections, report.Table("Pods that were tried", []string{"REPLICA", "NODE"}, rows))
	findings := manifests.Findings()
	for i, of := range findings {
		if i == mostNotices {
			f.Notices = append(f.Notices, fmt.Sprintf("%d more are not shown; kubectl regex lint shows all", len(findings)-i))
			break
		}
		f.Notices = append(f.Notices, fmt.Sprintf("Line %d: %s: %s", of.Line, of.Object, of.Text()))
	}
	return f
}

// mostNotices are shown above an answer.
const mostNotices = 20

// compare schedules the pods of the cluster with the current and with the edited
// configuration, each in a copy of the cluster.
func (p *page) compare(w http.ResponseWriter, r *http.Request) error {
	text, pods := r.FormValue("text"), r.FormValue("pods")
	if _, err := kubescheduler.Read([]byte(text)); err != nil {
		return configProblems(text, err)
	}
	cluster, err := p.copied(r.Context())
	if err != nil {
		return err
	}
	current := p.sim.SchedulerConfig()
	a, b := configTitle(current), configTitle([]byte(text))
	one := &job{Title: "Comparing " + a + " with " + b, Again: "/compare/new", Tried: text, Compares: true}
	some := len(cluster.Pods) > 0 // Run takes the pods out of it
	return p.await(w, r, p.whatIf(one, func(ctx context.Context, job *job) (outcome, error) {
		results, err := compare.Run(ctx, compare.Options{
			A:      compare.Scheduler{Name: a, Label: "the current configuration", Config: current},
			B:      []compare.Scheduler{{Name: b, Label: "the edited configuration", Config: []byte(text)}},
			WhatIf: p.sim.WhatIf, Cluster: cluster, Pods: pods, Seed: 1, Progress: phases(job),
		})
		switch {
		case ctx.Err() != nil:
			return outcome{}, ctx.Err()
		case errors.Is(err, compare.ErrNothing) && pods == side.Pending && some:
			return outcome{}, fmt.Errorf("%w; choose “all pods, rescheduled from scratch”", err)
		case err != nil:
			return outcome{}, comparisonProblems(text, err)
		}
		var out bytes.Buffer
		err = compare.Page(&out, results[0], "/results", job.Began)
		job.result = out.Bytes()
		return outcome{Notice: results[0].Change(), Link: job.URL()}, err
	}))
}

// whatIf starts a job that runs copies of the cluster. One runs at a time: two need twice
// the memory, and do not end sooner.
func (p *page) whatIf(one *job, work work) *job {
	return p.jobs.add(one, func(ctx context.Context, _ *job) (outcome, error) {
		before := p.jobs.whatIfs()
		i := slices.IndexFunc(before, func(other *job) bool { return other.ID < one.ID && !other.Ended() })
		if i >= 0 {
			one.report(progress{Phases: []string{"queued: “" + before[i].Title + "” has not ended"}})
		}
		select {
		case p.turn <- struct{}{}:
		case <-ctx.Done():
			return outcome{}, ctx.Err()
		}
		defer func() { <-p.turn }()
		one.report(progress{})
		return work(ctx, one)
	})
}

// comparisonProblems are at the lines of the edited configuration if they are about it.
func comparisonProblems(text string, err error) problems {
	var sides compare.SideErrors
	if errors.As(err, &sides) && sides[0].Side == "B" {
		return configProblems(text, sides[0].Err)
	}
	return problemsOf(err)
}

// phases reports the step of each side to a job, and the sum of what they have scheduled.
func phases(job *job) func(compare.Progress) {
	var mu sync.Mutex
	sides := map[string]compare.Progress{}
	return func(now compare.Progress) {
		mu.Lock()
		defer mu.Unlock()
		sides[now.Side] = now
		var all progress
		for _, letter := range slices.Sorted(maps.Keys(sides)) {
			one := sides[letter]
			all.Phases = append(all.Phases, one.String())
			if one.Step == side.Schedules {
				all.Done, all.Of = all.Done+one.Done, all.Of+one.Of
			}
		}
		job.report(all)
	}
}
