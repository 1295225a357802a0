package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/extenders"
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
			testkit.Equal(t, attempt(t, "goes-on", recorder.Scheduled).Node, "node-1", "the node where the extender is ignored")
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

// An extender of a real cluster's configuration may have the rights to bind there.
func TestExtenderIsSentABindOnlyWithExtenderBind(t *testing.T) {
	use(t, "native")
	extender := extenders.Start(t, "filter", "prioritize", "preempt")
	listen()
	apply(t, extender.Config(""))
	addNodes(t, "node-1")
	addPod(t, "bound-here", "")
	a := attempt(t, "bound-here", recorder.Scheduled)
	if a.Node != "node-1" || extender.Asked("filter") == 0 {
		t.Errorf("got %+v", a)
	}
	testkit.Has(t, console.String(), "warning: extender "+extender.URL+": its bindVerb is not called")

	sim.settings.ExtenderBind = true
	t.Cleanup(func() { sim.settings.ExtenderBind = false })
	extender = extenders.Start(t, "filter", "prioritize", "preempt", "bind")
	listen()
	apply(t, extender.Config(""))
	addPod(t, "bound-there", "")
	eventually(t, "the extender is to bind the pod", func() bool { return len(extender.Binds()) > 0 })
	pod, bind := getPod(t, "default", "bound-there"), extender.Binds()[0]
	if bind.PodUID != pod.UID || bind.Node != "node-1" {
		t.Errorf("got %+v", bind)
	}
	said := console.String()
	if strings.Contains(said, "bindVerb") {
		t.Errorf("warned %q", said)
	}
}

func TestExtendersNameLeadsIntoThisProcess(t *testing.T) {
	s := &Simulator{servers: servers{extender: &extender.Running{Address: "127.0.0.1:1234"}}}
	for prefix, want := range map[string]string{
		"http://extender:8000/":      "http://127.0.0.1:1234/",
		"http://extender:8000/lucky": "http://127.0.0.1:1234/lucky",
		"http://extender":            "http://127.0.0.1:1234",
		"http://other:8000/":         "http://other:8000/",
		"http://extender.example/":   "http://extender.example/",
	} {
		resolved, typed, err := s.resolve([]byte("extenders:\n- urlPrefix: " + prefix + "\n  filterVerb: filter\n"))
		testkit.Must(t, err)
		got := resolved.Extenders[0].URLPrefix
		if got != want || typed(want) != prefix {
			t.Errorf("%s: got %s, and back %s", prefix, got, typed(want))
		}
	}
}

// fakeExtender lets nodes pass whose names begin with kubecon, gives the others
// no reason if they begin with silent, and prefers kubecon-2.
func fakeExtender(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderArgs
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/prioritize" {
			_ = json.NewEncoder(w).Encode(extenderv1.HostPriorityList{{Host: "kubecon-2", Score: 10}, {Host: "kubecon-1", Score: 1}})
			return
		}
		result := extenderv1.ExtenderFilterResult{FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{}, Nodes: args.Nodes, NodeNames: args.NodeNames}
		rejects := func(name string) bool {
			if !strings.HasPrefix(name, "kubecon") && !strings.HasPrefix(name, "silent") {
				result.FailedAndUnresolvableNodes[name] = "not at the conference"
			}
			return !strings.HasPrefix(name, "kubecon")
		}
		if args.NodeNames != nil {
			*result.NodeNames = slices.DeleteFunc(*args.NodeNames, rejects)
		} else {
			result.Nodes.Items = slices.DeleteFunc(args.Nodes.Items, func(node v1.Node) bool { return rejects(node.Name) })
		}
		_ = json.NewEncoder(w).Encode(result)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestExtenderIsAColumn(t *testing.T) {
	for name, fields := range map[string]string{"with nodes": "", "with names": "\n  nodeCacheCapable: true"} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(reset(t))
			url := fakeExtender(t).URL
			config := "extenders:\n- urlPrefix: " + url + "\n  filterVerb: filter\n  prioritizeVerb: prioritize\n  weight: 10" + fields + "\n"
			apply(t, config)
			addNodes(t, "kubecon-1", "kubecon-2", "other", "silent")
			addPod(t, "p", "")
			a := attempt(t, "p", recorder.Scheduled)
			column := columnOf(t, a, url)
			if !a.Columns[column].Extender || a.Columns[column].Failed != 2 || a.Node != "kubecon-2" {
				t.Errorf("got %+v", a)
			}
			rows := a.Nodes()
			if rows[0].Node != "other" || rows[0].Column != column || rows[0].Reason != "not at the conference" ||
				rows[1].Node != "silent" || rows[1].Reason == "" || rows[2].Verdict != recorder.Passed {
				t.Errorf("got rows %+v", rows)
			}
			score := a.ScoreColumns[len(a.ScoreColumns)-1]
			best := a.Scores()[0]
			if score.Name != url || !score.Extender || best.Node != "kubecon-2" ||
				best.Cells[len(best.Cells)-1] != (recorder.Score{Raw: 10, Normalized: 100, Weighted: 1000}) {
				t.Errorf("got %+v, best %+v", score, best)
			}
		})
	}
}
