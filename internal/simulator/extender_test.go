package simulator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	poll "wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// However an extender fails, its pod stays pending with a reason that says so, unless
// the extender is ignorable.
func TestExtenderThatFails(t *testing.T) {
	answer := func(handler http.HandlerFunc) string {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return server.URL
	}
	for _, tc := range []struct{ name, url, want string }{
		{"is down", "http://" + closedPort, "connection refused"},
		{"is slow past its timeout", answer(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the end of the client goes unnoticed
			<-r.Context().Done()
		}), "Client.Timeout exceeded"},
		{"answers 500", answer(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "on fire", http.StatusInternalServerError)
		}), "code 500"},
		{"answers nonsense", answer(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html>hello</html>")
		}), "invalid character '<'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Cleanup(reset(t))
			addNodes(t, "node-1")
			const form = "extenders:\n- urlPrefix: %s/\n  filterVerb: filter\n  httpTimeout: 500ms\n  ignorable: %v\n"
			if err := sim.ApplySchedulerConfig(t.Context(), fmt.Appendf(nil, form, tc.url, false)); err != nil {
				t.Fatal(err)
			}
			addPod(t, "waits", "")
			a := attempt(t, "waits", recorder.Failed)
			rows := a.Nodes()
			if !strings.Contains(a.Message, tc.want) || len(rows) != 1 || rows[0].Verdict != recorder.Errored || !a.Columns[rows[0].Column].Extender {
				t.Errorf("got %q with rows %+v, want %q", a.Message, rows, tc.want)
			}
			if err := sim.ApplySchedulerConfig(t.Context(), fmt.Appendf(nil, form, tc.url, true)); err != nil {
				t.Fatal(err)
			}
			addPod(t, "goes-on", "")
			if a := attempt(t, "goes-on", recorder.Scheduled); a.Node != "node-1" {
				t.Errorf("ignored, the pod is on %q", a.Node)
			}
		})
	}
}

// A pod whose pattern is rejected stays pending, and is not tried again until the
// pattern changes, also where the extender is ignorable.
func TestPatternThatTheExtenderRejectsIsNotIgnored(t *testing.T) {
	url := serveExtender(t, "{}")
	var queue func() string
	sim.prepare = func(s *scheduler.Scheduler) {
		queue = func() string { _, summary := s.SchedulingQueue.PendingPods(); return summary }
	}
	defer func() { sim.prepare = nil }()
	for _, settings := range []string{"ignorable: true", "ignorable: false", "ignorable: true\n  nodeCacheCapable: true"} {
		t.Run(settings, func(t *testing.T) {
			t.Cleanup(reset(t))
			config := "extenders:\n- urlPrefix: " + url + "\n  filterVerb: filter\n  " + settings + "\n"
			if err := sim.ApplySchedulerConfig(t.Context(), []byte(config)); err != nil {
				t.Fatal(err)
			}
			addNodes(t, "kubecon-1", "other")
			addPod(t, "invalid", `kubecon-.*\`)
			addPod(t, "costly", "(a|b)*a(a|b){1000}")
			for pod, mistake := range map[string]string{"invalid": "trailing backslash at end of expression", "costly": "the pattern is too costly"} {
				want := "2 node(s) can't be matched: annotation " + regex.Annotation + ": " + mistake
				poll.Succeeds(t, pod+" waits because of "+mistake, func(context.Context) error {
					a := sim.Recorder().Attempts("default", pod)
					if len(a) == 0 || a[0].Result != recorder.Unschedulable || !strings.Contains(a[0].Message, want) {
						return fmt.Errorf("got %+v, want Unschedulable: %q", a[:min(1, len(a))], want)
					}
					return nil
				})
			}
			poll.Succeeds(t, "nothing is to be tried again", func(context.Context) error {
				pending := queue()
				if pending != "activeQ:0; backoffQ:0; unschedulablePods:2" {
					return fmt.Errorf("the scheduler has %s", pending)
				}
				return nil
			})
		})
	}
}

// serveExtender runs the extender with a configuration, and returns its URL
// once all its algorithms are at work.
func serveExtender(t *testing.T, yaml string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "extender.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := extender.LoadConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := extender.Start(extender.Options{Config: c, Logger: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	poll.Succeeds(t, "all algorithms are at work", func(context.Context) error {
		answer := httptest.NewRecorder()
		e.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if answer.Code != http.StatusOK || strings.Contains(answer.Body.String(), "[-]") {
			return fmt.Errorf("%d %s", answer.Code, answer.Body)
		}
		return nil
	})
	return "http://" + e.Address
}

// prometheus answers every query with a value for each node.
func prometheus(t *testing.T, values map[string]float64) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var series []string
		for node, value := range values {
			series = append(series, fmt.Sprintf(`{"metric":{"node":%q},"value":[%d,"%g"]}`, node, time.Now().Unix(), value))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, strings.Join(series, ","))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAlgorithmsOfTheExtenderDecide(t *testing.T) {
	load := "\n  load:\n    config: {url: %s, query: load, nodeLabel: node, max: 1, threshold: 0.9}\n"
	prom := prometheus(t, map[string]float64{"kubecon-1": 0.8, "kubecon-2": 0.2, "kubecon-3": 0.95, "other": 0})
	for _, tc := range []struct{ name, config, want string }{
		{"regex and load", "filter: regex\nprioritize: load\nalgorithms:" + fmt.Sprintf(load, prom), "kubecon-2"},
		{"regex and lucky", "filter: regex\nprioritize: lucky\nalgorithms:\n  lucky:\n    config: {seed: 1}\n", "kubecon-"},
		{"nop", "algorithm: nop\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Cleanup(reset(t))
			url := serveExtender(t, tc.config)
			form := "extenders:\n- urlPrefix: %s\n  filterVerb: filter\n  prioritizeVerb: prioritize\n  weight: 100\n  nodeCacheCapable: true\n"
			if err := sim.ApplySchedulerConfig(t.Context(), fmt.Appendf(nil, form, url)); err != nil {
				t.Fatal(err)
			}
			addNodes(t, "kubecon-1", "kubecon-2", "kubecon-3", "other")
			addPod(t, "p", "^kubecon-")
			a := attempt(t, "p", recorder.Scheduled)
			if !strings.HasPrefix(a.Node, tc.want) {
				t.Errorf("on %q, want %q: %+v", a.Node, tc.want, a.Nodes())
			}
		})
	}
}

// The simulator's own extender is the one that the ready-made configurations
// name.
func TestReadyMadeConfigurationsReachTheExtender(t *testing.T) {
	for _, variant := range []string{"extender", "extender-names"} {
		t.Run(variant, func(t *testing.T) {
			use(t, variant)
			addNodes(t, "kubecon-1", "other")
			addPod(t, "p", "^kubecon-")
			a := attempt(t, "p", recorder.Scheduled)
			rows := a.Nodes()
			if a.Node != "kubecon-1" || rows[0].Node != "other" || rows[0].Reason != `node(s) didn't match the pod's node name regex "^kubecon-"` ||
				a.Columns[rows[0].Column].Name != "http://extender:8000/" {
				t.Errorf("got %+v with rows %+v", a, rows)
			}
		})
	}
}

// A scheduler that has found enough nodes looks at no more, and only then asks
// its extenders: the configuration must let it find them all.
func TestExtenderIsAskedAboutEveryNodeOfALargeCluster(t *testing.T) {
	for _, variant := range []string{"extender", "extender-names"} {
		t.Run(variant, func(t *testing.T) {
			use(t, variant)
			names := make([]string, 240)
			for i := range names {
				names[i] = fmt.Sprintf("node-%03d", i)
			}
			addNodes(t, names...)
			for i := 0; i < len(names); i += 60 {
				pod := fmt.Sprintf("p%d", i)
				addPod(t, pod, "^"+names[i]+"$")
				a := attempt(t, pod, recorder.Scheduled)
				if a.Node != names[i] || a.Number != 1 {
					t.Errorf("attempt %d puts it on %q, want the first to on %s", a.Number, a.Node, names[i])
				}
			}
		})
	}
}
