package compare

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// sideOf runs a side in this process.
func sideOf(t *testing.T, name string, s *snapshot.Snapshot, mode string) *side.Result {
	t.Helper()
	config := variant(t, name).Config
	o, done, err := whatIf(config)
	testkit.Must(t, err)
	o.Cluster = s
	one, err := side.New(t.Context(), side.Options{Options: o, Name: name, Text: config, Pods: mode, Schedulers: []string{v1.DefaultSchedulerName}})
	testkit.Must(t, err)
	defer one.Close()
	r, err := one.Run(t.Context())
	testkit.Must(t, errors.Join(err, done()))
	return r
}

// fileOf is a result as it is written, without the place for scores of attempts that have none.
func fileOf(t *testing.T, r *side.Result, path string) string {
	t.Helper()
	testkit.Must(t, r.Write(path))
	text, err := os.ReadFile(path)
	testkit.Must(t, err)
	return strings.ReplaceAll(string(text), `,"scoring":{"nodes":null,"columns":null}`, "")
}

func TestResultIsReadAsItWasWritten(t *testing.T) {
	for _, name := range []string{"v2", "extender"} {
		s := crowded()
		s.Pods = append(s.Pods, withRegex(podOf("picky", "100m"), "^gpu-"))
		r := sideOf(t, name, s, side.Pending)
		dir := t.TempDir()
		want := fileOf(t, r, dir+"/result.json")
		fileOf(t, r, dir+"/result.json.gz")
		for _, file := range []string{dir + "/result.json", dir + "/result.json.gz"} {
			read, err := side.Read(file)
			testkit.Must(t, err)
			v := judge(r, read)
			if v.same == 0 || len(v.differences)+len(v.ties) > 0 {
				t.Errorf("%s: %d are the same, %+v", file, v.same, v.differences)
			}
			got := fileOf(t, read, dir+"/again.json")
			if got != want || !strings.Contains(got, `"scoring":{"nodes":[`) {
				t.Errorf("%s has %d bytes, want %d: %.500s", file, len(got), len(want), got)
			}
		}
	}
}

func TestResultHasWhatAReportNeeds(t *testing.T) {
	s, _, err := snapshot.Read(strings.NewReader(`
nodes:
- {metadata: {name: a, labels: {group: gpu}}, status: {allocatable: &room {cpu: "4", memory: 8Gi, pods: "9", example.com/gpu: "4"}, capacity: *room}}
deployments: [{metadata: {name: above, namespace: default, uid: d}, spec: {replicas: 1, selector: &selector {matchLabels: {app: web}}, template: &template {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}}}}]
replicaSets:
- metadata: {name: web, namespace: default, uid: r, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: above, uid: d, controller: true}]}
  spec: {replicas: 1, selector: *selector, template: *template}
pods:
- metadata: {name: web, namespace: default, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: r, controller: true}]}
  spec: {nodeName: a, containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}
- metadata: {name: hashed, namespace: default, labels: {pod-template-hash: 5d4}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: shop-5d4, uid: x, controller: true}]}
  spec: {containers: [{name: c, image: c, resources: {requests: {example.com/gpu: "1"}, limits: {example.com/gpu: "1"}}}]}
`))
	testkit.Must(t, err)
	r := sideOf(t, "none", s, side.All)
	n := r.Nodes[0]
	if n.Name != "a" || n.Labels["group"] != "gpu" || !n.Today || n.Allocatable.Name("example.com/gpu", "").Value() != 4 {
		t.Errorf("%+v", n)
	}
	p := r.Pod(side.KeyOf("default/web"))
	if p.Owner != (cluster.Workload{Kind: "Deployment", Name: "above"}) || p.Today != "a" || p.Requests.Cpu().Value() != 1 {
		t.Errorf("%+v", p)
	}
	p = r.Pod(side.KeyOf("default/hashed"))
	if p.Owner != (cluster.Workload{Kind: "Deployment", Name: "shop"}) || p.Today != "" || p.Requests.Name("example.com/gpu", "").Value() != 1 || p.Node != "a" {
		t.Errorf("%+v", p)
	}
}

// Nothing tells which plugin is another in another version of Kubernetes.
func TestDifferencesBetweenVersionsAreDirect(t *testing.T) {
	a, b := preempted("x", "y", 0, "two"), preempted("x", "y", 0, "three")
	for _, version := range []string{"", "v1.37.1"} {
		b.Kubernetes = version
		v := judge(a, b)
		if len(v.differences) != 1 || v.differences[0].Follows != (version == "") {
			t.Errorf("%q: %+v", version, v.differences)
		}
	}
	differ := sets.List(differing(map[string]string{"--seed": "1"}, map[string]string{"--seed": "2"}, equal))
	if fmt.Sprint(differ) != "[--seed]" {
		t.Error(differ)
	}
}
