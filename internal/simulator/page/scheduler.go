package page

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/version"
	"wasmkwokwizardry.io/regex-scheduling/plugin"
)

// readyMade are the configurations of the plugin variants, and the ones of managed clusters.
var readyMade = func() []simulator.Configuration {
	all := slices.Clone(simulator.Configurations)
	for _, name := range simulator.Presets {
		all = append(all, simulator.Configuration{Variant: name, Title: "preset " + name})
	}
	return all
}()

// about says which simulator this is, and how kubectl reaches it.
func (p *page) about(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "about", "About", "", map[string]string{
		"Version": version.String(), "Kubeconfig": cli.Shell([]string{p.sim.Kubeconfig()}), "Host": p.sim.Host(), "Docs": "https://wasmkwokwizardry.io/regex-scheduling",
	})
}

// schedulerForm edits a configuration to apply, or to compare the current one with.
func (p *page) schedulerForm(title string, compare bool) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return p.show(w, r, "scheduler", title, "", map[string]any{
			"Text": p.tried(r, string(p.sim.SchedulerConfig())), "ReadyMade": readyMade, "Compare": compare,
		})
	}
}

func (p *page) applyScheduler(w http.ResponseWriter, r *http.Request) error {
	text := r.FormValue("text")
	if _, err := kubescheduler.Read([]byte(text)); err != nil {
		return notApplied(text, err)
	}
	return p.await(w, r, p.jobs.start("Restarting the scheduler", func(ctx context.Context, _ *job) (outcome, error) {
		began := time.Now()
		if err := p.sim.ApplySchedulerConfig(ctx, []byte(text)); err != nil {
			return outcome{}, notApplied(text, err)
		}
		return outcome{
			Notice:  "The scheduler runs with the new configuration, after " + report.Brief(time.Since(began)),
			Remarks: p.sim.Unanswered(), But: "An extender does not answer, and pods stay pending unless it is ignorable",
		}, nil
	}))
}

// notApplied ends on the good news.
func notApplied(text string, err error) problems {
	return append(configProblems(text, err), problem{Line: -1, Message: "The scheduler keeps the current configuration."})
}

// configTitle names a configuration: as the ready-made one that it is, or else by its plugins besides
// kube-scheduler's own, and its extenders.
func configTitle(config []byte) string {
	for _, c := range readyMade {
		if strings.TrimSpace(string(c.YAML())) == strings.TrimSpace(string(config)) {
			return c.Title
		}
	}
	var parts []string
	read, err := kubescheduler.Read(config)
	if err == nil {
		for _, profile := range read.Profiles {
			parts = append(parts, pluginsOf(profile)...)
		}
		for _, e := range read.Extenders {
			parts = append(parts, printable.URL(e.URLPrefix))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "own configuration")
}

// pluginsOf names the plugins of a profile that read a regex or are guests, the ones that are only configured, too.
func pluginsOf(profile kubescheduler.Profile) (names []string) {
	enabled := map[string]bool{}
	for _, set := range profile.Plugins {
		for _, one := range set.Enabled {
			enabled[one.Name] = true
		}
	}
	if enabled[plugin.Name] {
		names = []string{plugin.Name}
	}
	for _, one := range profile.PluginConfig {
		guest, _, isGuest := one.Guest()
		name := one.Name
		if isGuest {
			name = path.Base(guest)
		}
		switch {
		case isGuest && enabled[one.Name]:
			names = append(names, name)
		case (isGuest || name == plugin.Name) && !enabled[one.Name]:
			names = append(names, name+" (not enabled)")
		}
	}
	return names
}

// configProblems are the problems in an error of [kubescheduler.Read], or of a scheduler, about a
// configuration.
func configProblems(text string, err error) (all problems) {
	var mistakes kubescheduler.Mistakes
	if !errors.As(err, &mistakes) {
		wrong := syntax(text)
		if wrong != nil {
			return wrong
		}
		mistakes = kubescheduler.Mistakes{{Err: errors.New(strings.TrimPrefix(err.Error(), "scheduler: "))}}
	}
	for _, e := range mistakes {
		all = append(all, problem{Line: e.Line, Field: e.Field, Message: e.Err.Error()})
	}
	return all
}
