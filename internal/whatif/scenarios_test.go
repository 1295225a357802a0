// Package whatif_test holds predictions against what live clusters come to. The live half
// is package simulator/referee.
package whatif_test

import (
	"flag"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/guestserver"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/scenarios"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
)

var update = flag.Bool("update", false, "write what is predicted into the scenarios; then have the live half check it")

// TestScenariosArePredicted: the engine comes to what each scenario expects, and so do drain and
// fit for a scenario that is a question of theirs.
func TestScenariosArePredicted(t *testing.T) {
	guests, _, err := guestserver.Start("127.0.0.1:0")
	testkit.Must(t, err)
	defer guests.Close()
	transport := guestserver.Names(map[string]string{"static-webserver": guests.Addr})
	defer transport.CloseIdleConnections()
	for _, s := range slices.Concat(scenarios.All(t, "testdata/scenarios"), scenarios.All(t, "testdata/unsteady")) {
		t.Run(s.Name, func(t *testing.T) {
			lines, fits := predicted(t, s, transport), fitted(t, s, transport)
			contains(t, lines, fits)
			contains(t, lines, drained(t, s, transport))
			if *update {
				s.Update(t, lines)
			} else if !slices.Equal(lines, s.Expect) {
				t.Errorf("predicted:\n%s\nexpected:\n%s", strings.Join(lines, "\n"), strings.Join(s.Expect, "\n"))
			}
		})
	}
}

// contains fails unless each of some lines is one of all.
func contains(t *testing.T, all, some []string) {
	t.Helper()
	left := slices.Clone(all)
	for _, line := range some {
		at := slices.Index(left, line)
		if at < 0 {
			t.Errorf("%q is said, and the engine has:\n%s", line, strings.Join(all, "\n"))
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
}

func options(t *testing.T, s *scenarios.Scenario, transport http.RoundTripper) engine.Options {
	t.Helper()
	text, err := os.ReadFile("../simulator/variants/" + s.Config + ".yaml")
	testkit.Must(t, err)
	config, err := kubescheduler.Read(text)
	testkit.Must(t, err)
	return engine.Options{Config: config, Cluster: s.Cluster(t), Transport: transport, Seed: 1}
}

// predicted makes the change by the API of the cluster in memory.
func predicted(t *testing.T, s *scenarios.Scenario, transport http.RoundTripper) []string {
	t.Helper()
	o := options(t, s, transport)
	o.Workloads = engine.Workloads
	e, err := engine.New(t.Context(), o)
	testkit.Must(t, err)
	defer e.Close()
	run(t, e)
	lines := scenarios.Lines(cluster.All[*v1.Pod](e.Cluster), nil)
	if s.Begin != nil && !slices.Equal(lines, s.Begin) {
		t.Errorf("it begins with:\n%s", strings.Join(lines, "\n"))
	}
	s.Change(t, e.Cluster.Config)
	run(t, e)
	var evictions scenarios.Evictions
	for out := 1; out > 0; {
		if out, err = evictions.Go(t.Context(), s, e.Cluster.Client); err != nil {
			t.Fatal(err)
		}
		run(t, e)
	}
	pods := cluster.All[*v1.Pod](e.Cluster)
	for _, pod := range pods {
		o := e.Outcome(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		line := strings.Join(scenarios.Lines([]*v1.Pod{pod}, nil), "")
		if !strings.Contains(line, scenarios.Plain(o.Message)) && o.State != engine.NotAsked {
			t.Errorf("%s: its outcome is %+v", line, o)
		}
	}
	return scenarios.Lines(pods, evictions.Kept)
}

func run(t *testing.T, e *engine.Engine) {
	t.Helper()
	testkit.Must(t, e.Run(t.Context()))
}

// drained are the lines that drain has of pods that had to leave, if the change is that.
func drained(t *testing.T, s *scenarios.Scenario, transport http.RoundTripper) (lines []string) {
	t.Helper()
	if len(s.Drain) == 0 || len(s.Delete)+len(s.Patch)+len(s.Evict)+len(s.Manifests(t)) > 0 {
		return nil
	}
	o := drain.Options{Options: options(t, s, transport), Nodes: s.Drain}
	called, bare := map[string]string{}, o.Bare()
	for i := range o.Cluster.Pods {
		pod := &o.Cluster.Pods[i]
		called[pod.Namespace+"/"+pod.Name] = scenarios.Display(pod)
	}
	result, err := drain.Drain(t.Context(), o)
	testkit.Must(t, err)
	for _, move := range result.Moves {
		switch {
		case move.To != "":
			lines = append(lines, scenarios.On(called[move.Pod], move.To))
		case slices.Contains(bare, move.Pod): // which it says before it begins
		case strings.Contains(move.Reason, "comes back"):
			lines = append(lines, scenarios.On(called[move.Pod], move.From))
		case strings.Contains(move.Reason, "no profile is called"):
			lines = append(lines, called[move.Pod]+" untouched")
		case strings.Contains(strings.ToLower(move.Reason), "budget"):
			lines = append(lines, scenarios.On(called[move.Pod], move.From)+", kept: "+scenarios.Refusal(move.Reason))
		case strings.Contains(move.Reason, "it was preempted, and nothing recreates it"), strings.Contains(move.Reason, "its StatefulSet does not make it"), strings.Contains(move.Reason, "the API server rejects it"):
		default:
			lines = append(lines, scenarios.Pending(called[move.Pod], move.Reason))
		}
	}
	return lines
}

// fitted are the lines that fit has of what is made, if the change is that. Guests take a
// second to compile: one engine with them is enough.
func fitted(t *testing.T, s *scenarios.Scenario, transport http.RoundTripper) (lines []string) {
	t.Helper()
	if len(s.Drain)+len(s.Delete)+len(s.Patch)+len(s.Evict) > 0 || len(s.Manifests(t)) == 0 || s.Config == "v1" || s.Config == "v2" {
		return nil
	}
	manifests, err := fit.Read([]string{"-"}, strings.NewReader(s.Manifests(t)), fit.Namespace{})
	if err != nil {
		return nil // there are no pods among it
	}
	f, err := fit.Fit(t.Context(), fit.Options{Options: options(t, s, transport), Manifests: manifests})
	testkit.Must(t, err)
	for _, w := range f.Workloads {
		called := func(pod string) string {
			if w.Kind == "StatefulSet" {
				return pod
			}
			return w.Name
		}
		for pod, node := range w.Pods {
			if node != "" {
				lines = append(lines, scenarios.On(called(pod), node))
			}
		}
		for why, times := range w.Why {
			if strings.Contains(why, "nodes") {
				lines = append(lines, slices.Repeat([]string{scenarios.Pending(w.Name, why)}, times)...)
			}
		}
	}
	return lines
}
