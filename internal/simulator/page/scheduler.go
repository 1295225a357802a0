package page

import (
	"cmp"
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// readyMade are the configurations to pick from.
func readyMade() []simulator.Configuration { return simulator.Configurations }

// scheduler is the form with the scheduler's configuration.
func (p *page) scheduler(w http.ResponseWriter, r *http.Request) {
	text := string(p.sim.SchedulerConfig())
	if one := p.comparisons.get(r.URL.Query().Get("compared")); one != nil {
		text = one.Typed
	}
	p.show(w, r, "scheduler", "Scheduler", "", map[string]any{
		"Text": text, "ReadyMade": readyMade(),
	})
}

// readyMade is one of the ready-made configurations, for the editor.
func (p *page) readyMade(w http.ResponseWriter, r *http.Request) {
	for _, c := range readyMade() {
		if c.Door == r.URL.Query().Get("door") {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = w.Write(c.YAML())
			return
		}
	}
	http.NotFound(w, r)
}

// applyScheduler restarts the scheduler with what was typed.
func (p *page) applyScheduler(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxText)
	text := r.FormValue("text")
	if problems := configMistakes(text); len(problems) > 0 {
		p.outcome(w, r, "", stillRuns(problems))
		return
	}
	p.await(w, r, p.jobs.start("Restarting the scheduler", func(ctx context.Context, _ *job) (string, []problem) {
		began := time.Now()
		if err := p.sim.ApplySchedulerConfig(ctx, []byte(text)); err != nil {
			return "", stillRuns(configProblems(text, err))
		}
		return "The scheduler runs with the new configuration, after " + brief(time.Since(began)), nil
	}))
}

// stillRuns ends a list of problems on the good news.
func stillRuns(problems []problem) []problem {
	return append(problems, problem{Line: -1, Message: "The scheduler goes on with the configuration that it had."})
}

// configMistakes is what can be seen to be wrong with a configuration without a
// scheduler.
func configMistakes(text string) []problem {
	d := document{text: strings.ReplaceAll(text, "\r\n", "\n"), first: 1}
	if wrong := yamlcheck.Parse([]byte(d.text)).Keys(); len(wrong) > 0 {
		return d.located(wrong)
	}
	var object map[string]any
	if err := yaml.Unmarshal([]byte(d.text), &object); err != nil && !strings.Contains(err.Error(), "cannot unmarshal") {
		return []problem{yamlProblem(err, d)}
	}
	var written []document
	for _, part := range split(d.text) {
		var content any
		if yaml.Unmarshal([]byte(part.text), &content) == nil && content != nil {
			written = append(written, part)
		}
	}
	if len(written) > 1 {
		return []problem{{Line: written[1].first - 1, Message: "a configuration is one document: take this line out, and what is below it if that is another one"}}
	}
	return nil
}

// configProblems finds the lines that an error is about.
func configProblems(text string, err error) []problem {
	d := document{text: text, first: 1}
	var problems []problem
	for _, e := range kubescheduler.FieldErrors(err) {
		problems = append(problems, d.problem(e.Field, e.Message))
	}
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b problem) int { return cmp.Compare(a.Line, b.Line) })
		return problems
	}
	message := strings.TrimPrefix(err.Error(), "scheduler: ")
	return []problem{{Line: d.mentioned(message), Message: message}}
}

// configTitle says in a few words what a configuration puts to use.
func configTitle(config []byte) string {
	for _, c := range readyMade() {
		if strings.TrimSpace(string(c.YAML())) == strings.TrimSpace(string(config)) {
			return c.Title
		}
	}
	return ownTitle(config)
}

// ownTitle names what a configuration that is none of the ready-made ones is
// about: its guests and extenders.
func ownTitle(config []byte) string {
	var typed struct {
		Profiles []struct {
			PluginConfig []struct {
				Args struct{ GuestURL string }
			}
		}
		Extenders []struct{ URLPrefix string }
	}
	if yaml.Unmarshal(config, &typed) != nil {
		return "own configuration"
	}
	var parts []string
	for _, profile := range typed.Profiles {
		for _, plugin := range profile.PluginConfig {
			if plugin.Args.GuestURL != "" {
				parts = append(parts, path.Base(plugin.Args.GuestURL))
			}
		}
	}
	for _, e := range typed.Extenders {
		parts = append(parts, e.URLPrefix)
	}
	return cmp.Or(strings.Join(parts, ", "), "own configuration")
}
