package compare

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// sideOf runs a side in this process.
func sideOf(t *testing.T, name string, s *snapshot.Snapshot, mode string) *side.Result {
	t.Helper()
	config := variant(t, name).Config
	o, done, err := whatIf(config)
	if err != nil {
		t.Fatal(err)
	}
	o.Cluster = s
	one, err := side.New(t.Context(), side.Options{Options: o, Name: name, Text: config, Pods: mode, Schedulers: []string{v1.DefaultSchedulerName}})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	r, err := one.Run(t.Context())
	if err := errors.Join(err, done()); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAResultIsReadAsItWasWritten(t *testing.T) {
	for _, name := range []string{"v2", "extender"} {
		s := crowded()
		s.Pods = append(s.Pods, withRegex(podOf("picky", "100m"), "^gpu-"))
		r := sideOf(t, name, s, side.Pending)
		for _, file := range []string{"result.json", "result.json.gz"} {
			path := filepath.Join(t.TempDir(), file)
			if err := r.Write(path); err != nil {
				t.Fatal(err)
			}
			got, err := side.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Nodes, r.Nodes) && fmt.Sprint(got.Nodes) != fmt.Sprint(r.Nodes) || len(got.Pods) != len(r.Pods) || !reflect.DeepEqual(got.Setups, r.Setups) {
				t.Errorf("%s: %d nodes, %d pods", file, len(got.Nodes), len(got.Pods))
			}
			scored, refused := 0, 0
			for _, want := range r.Pods {
				pod := got.Pod(want.Key())
				if want.Attempt == nil {
					continue
				}
				if !reflect.DeepEqual(pod.Attempt.Nodes(), want.Attempt.Nodes()) {
					t.Fatalf("%s: %s: %v, want %v", file, want.Key(), pod.Attempt.Nodes(), want.Attempt.Nodes())
				}
				rows := want.Attempt.Scores()
				for i, row := range pod.Attempt.Scores() {
					scored++
					if row.Node != rows[i].Node || row.Total != rows[i].Total || row.Cells[0].Weighted != rows[i].Cells[0].Weighted {
						t.Fatalf("%s: %s: %v, want %v", file, want.Key(), row, rows[i])
					}
				}
				refused += len(pod.Attempt.Groups) - 1
				if (pod.MadeRoom == nil) != (want.MadeRoom == nil) || !reflect.DeepEqual(pod.Victims, want.Victims) || pod.Took != want.Took {
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
	s := clusterOf(2, 1)
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
	r := sideOf(t, "none", s, side.All)
	if n := r.Nodes[0]; n.Name != "node-000" || n.Labels["group"] != "gpu" || !n.Today || n.Allocatable.Name("example.com/gpu", "").Value() != 4 {
		t.Errorf("%+v", n)
	}
	if n := r.Nodes[1]; !n.Unschedulable || len(n.Taints) == 0 {
		t.Errorf("%+v", n)
	}
	if p := r.Pod(side.KeyOf("default/web")); p.Owner != (cluster.Workload{Kind: "Deployment", Name: "above"}) || p.Today != "node-000" || p.Stays || p.Requests.Cpu().Value() != 1 || p.Labels["app"] != "web" {
		t.Errorf("%+v", p)
	}
	if p := r.Pod(side.KeyOf("default/hashed")); p.Owner != (cluster.Workload{Kind: "Deployment", Name: "shop"}) || p.Today != "" || p.Requests.Name("example.com/gpu", "").Value() != 1 || p.Node != "node-000" {
		t.Errorf("%+v", p)
	}
}

// Nothing tells which plugin is another in another version of Kubernetes.
func TestBetweenVersionsWhatFollowsFromNothingIsDirect(t *testing.T) {
	a, b := preempted("x", "y", 0, "two"), preempted("x", "y", 0, "three")
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
