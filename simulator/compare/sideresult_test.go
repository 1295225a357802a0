package compare

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// sideOf runs a side in this process.
func sideOf(t *testing.T, name string, s *snapshot.Snapshot, mode string) *SideResult {
	t.Helper()
	r, err := RunSide(t.Context(), SideOptions{
		Name: name, Config: door(t, name).Config, Cluster: s, Pods: mode, Schedulers: []string{v1.DefaultSchedulerName}, Seed: 1,
		Progress: func(string, int, int) {}, Warnings: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAResultIsReadAsItWasWritten(t *testing.T) {
	for _, name := range []string{"v2", "extender"} {
		s := crowded()
		s.Pods = append(s.Pods, withRegex(podOf("picky", "100m"), "^gpu-"))
		r := sideOf(t, name, s, Pending)
		for _, file := range []string{"result.json", "result.json.gz"} {
			path := filepath.Join(t.TempDir(), file)
			if err := r.Write(path); err != nil {
				t.Fatal(err)
			}
			got, err := ReadSideResult(path)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Nodes, r.Nodes) && fmt.Sprint(got.Nodes) != fmt.Sprint(r.Nodes) || len(got.Pods) != len(r.Pods) || !reflect.DeepEqual(got.Setups, r.Setups) {
				t.Errorf("%s: %d nodes, %d pods", file, len(got.Nodes), len(got.Pods))
			}
			scored, refused := 0, 0
			for _, want := range r.Pods {
				pod := got.byName[want.key()]
				if want.Attempt == nil {
					continue
				}
				if !reflect.DeepEqual(pod.Attempt.Nodes(), want.Attempt.Nodes()) {
					t.Fatalf("%s: %s: %v, want %v", file, want.key(), pod.Attempt.Nodes(), want.Attempt.Nodes())
				}
				rows := want.Attempt.Scores()
				for i, row := range pod.Attempt.Scores() {
					scored++
					if row.Node != rows[i].Node || row.Total != rows[i].Total || row.Cells[0].Weighted != rows[i].Cells[0].Weighted {
						t.Fatalf("%s: %s: %v, want %v", file, want.key(), row, rows[i])
					}
				}
				refused += len(pod.Attempt.Groups) - 1
				if (pod.room == nil) != (want.room == nil) || !reflect.DeepEqual(pod.Victims, want.Victims) || pod.Took != want.Took {
					t.Errorf("%s: %+v, want %+v", file, pod.Outcome, want.Outcome)
				}
			}
			if scored == 0 || refused == 0 {
				t.Errorf("%d scores, %d other verdicts", scored, refused)
			}
			if v := judge(r, got); v.same == 0 || len(v.differences)+len(v.ties) > 0 {
				t.Errorf("%s: %d are the same, %+v", file, v.same, v.differences)
			}
		}
	}
}

func TestAResultHasWhatAReportNeeds(t *testing.T) {
	s := cluster(2, 1)
	s.Nodes[0].Labels["group"] = "gpu"
	s.Nodes[1].Spec.Unschedulable = true
	s.Nodes[1].Spec.Taints = []v1.Taint{{Key: "example.com/old", Effect: v1.TaintEffectPreferNoSchedule}}
	s.Nodes[0].Status.Allocatable["example.com/gpu"] = resource.MustParse("4")
	s.Nodes[0].Status.Capacity = s.Nodes[0].Status.Allocatable
	withOwner(s, "ReplicaSet")
	web := on(ownedBy(podOf("web", "1"), "apps/v1", "ReplicaSet"), "node-000")
	unknown := podOf("hashed", "1")
	unknown.Labels = map[string]string{"pod-template-hash": "5d4"}
	unknown.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "shop-5d4", UID: "x", Controller: ptr.To(true)}}
	limits := v1.ResourceList{"example.com/gpu": resource.MustParse("1")}
	unknown.Spec.Containers[0].Resources.Limits = limits
	unknown.Spec.Containers[0].Resources.Requests["example.com/gpu"] = limits["example.com/gpu"]
	s.Pods = append(s.Pods, web, unknown)
	r := sideOf(t, "default", s, All)
	if n := r.Nodes[0]; n.Name != "node-000" || n.Labels["group"] != "gpu" || !n.Today || n.Allocatable.Name("example.com/gpu", "").Value() != 4 {
		t.Errorf("%+v", n)
	}
	if n := r.Nodes[1]; !n.Unschedulable || len(n.Taints) == 0 {
		t.Errorf("%+v", n)
	}
	if p := r.byName[keyOf("default/web")]; p.Owner != (Owner{"Deployment", "above"}) || p.Today != "node-000" || p.Stays || p.Requests.Cpu().Value() != 1 || p.Labels["app"] != "web" {
		t.Errorf("%+v", p)
	}
	if p := r.byName[keyOf("default/hashed")]; p.Owner != (Owner{"Deployment", "shop"}) || p.Today != "" || p.Requests.Name("example.com/gpu", "").Value() != 1 || p.Node != "node-000" {
		t.Errorf("%+v", p)
	}
}

func TestFilesThatAreNoResultsAreRefused(t *testing.T) {
	var packed bytes.Buffer
	to := gzip.NewWriter(&packed)
	_, _ = to.Write([]byte(`{"format":1,"pods":[]}`))
	_ = to.Close()
	none := `it is no result of "simulator side", or not all of one`
	const strange = `{"format":1,"nodeNames":["a"],"pods":[{"namespace":"n","name":"p","state":"","attempts":1,"last":{"attempt":{},"scoring":{"nodes":[1]}}}]}`
	for text, want := range map[string]string{
		"":                           none,
		"nodes: []":                  none,
		"{}":                         none,
		`{"format":"x"}`:             none,
		`{"format":1,"pods":[`:       none,
		`{"format":1,"pods":[null]}`: "the file is damaged: a pod is missing",
		`{"format":2}`:               "it is a result of format 2, and this simulator reads format 1",
		packed.String()[:20]:         "the file is cut off or damaged",
		strange:                      "the file is damaged: pod n/p: an attempt has nodes that are not listed",
	} {
		path := filepath.Join(t.TempDir(), "result")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSideResult(path); err == nil || !strings.HasPrefix(err.Error(), path+": "+want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// Nothing tells which plugin is another in another version of Kubernetes.
func TestBetweenVersionsWhatFollowsFromNothingIsDirect(t *testing.T) {
	a, b := pushed("x", "y", 0, "two"), pushed("x", "y", 0, "three")
	for _, version := range []string{"", "v1.37.1"} {
		b.Kubernetes = version
		v := judge(a, b)
		if len(v.differences) != 1 || v.differences[0].Follows != (version == "") {
			t.Errorf("%q: %+v", version, v.differences)
		}
	}
	if differ := sets.List(differing(map[string]string{"--seed": "1"}, map[string]string{"--seed": "2"})); fmt.Sprint(differ) != "[--seed]" {
		t.Error(differ)
	}
}
