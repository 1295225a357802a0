package simulator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

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
