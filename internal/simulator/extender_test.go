package simulator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
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
			apply(t, fmt.Sprintf(form, tc.url, false))
			addPod(t, "waits", "")
			a := attempt(t, "waits", recorder.Failed)
			rows := a.Nodes()
			if !strings.Contains(a.Message, tc.want) || len(rows) != 1 || rows[0].Verdict != recorder.Errored || !a.Columns[rows[0].Column].Extender {
				t.Errorf("got %q with rows %+v, want %q", a.Message, rows, tc.want)
			}
			apply(t, fmt.Sprintf(form, tc.url, true))
			addPod(t, "goes-on", "")
			a = attempt(t, "goes-on", recorder.Scheduled)
			if a.Node != "node-1" {
				t.Errorf("ignored, the pod is on %q", a.Node)
			}
		})
	}
}

// A pod whose pattern is rejected stays pending, and is not tried again until the
// pattern changes, also where the extender is ignorable.
func TestPatternThatTheExtenderRejectsIsNotIgnored(t *testing.T) {
	url := "http://" + sim.extender.Address // with its own defaults
	var queue func() string
	sim.settings.Prepare = func(s *scheduler.Scheduler) {
		queue = func() string { _, summary := s.SchedulingQueue.PendingPods(); return summary }
	}
	defer func() { sim.settings.Prepare = nil }()
	for _, settings := range []string{"ignorable: true", "ignorable: false", "ignorable: true\n  nodeCacheCapable: true"} {
		t.Run(settings, func(t *testing.T) {
			t.Cleanup(reset(t))
			apply(t, "extenders:\n- urlPrefix: "+url+"\n  filterVerb: filter\n  "+settings+"\n")
			addNodes(t, "kubecon-1", "other")
			addPod(t, "invalid", `kubecon-.*\`)
			addPod(t, "costly", "(a|b)*a(a|b){1000}")
			for pod, mistake := range map[string]string{"invalid": "trailing backslash at end of expression", "costly": "the pattern is too costly"} {
				want := "2 node(s) can't be matched: annotation " + regex.Annotation + ": " + mistake
				testkit.Eventually(t, pod+" waits because of "+mistake, func(context.Context) error {
					a := sim.Recorder().Attempts("default", pod)
					if len(a) == 0 || a[0].Result != recorder.Unschedulable || !strings.Contains(a[0].Message, want) {
						return fmt.Errorf("got %+v, want Unschedulable: %q", a[:min(1, len(a))], want)
					}
					return nil
				})
			}
			testkit.Eventually(t, "nothing is to be tried again", func(context.Context) error {
				pending := queue()
				if pending != "activeQ:0; backoffQ:0; unschedulablePods:2" {
					return fmt.Errorf("the scheduler has %s", pending)
				}
				return nil
			})
		})
	}
}
