package compare

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

// fileOf is a result as it is written, without the place for scores of attempts that have none.
func fileOf(t *testing.T, r *side.Result, path string) string {
	t.Helper()
	if err := r.Write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), `,"scoring":{"nodes":[],"columns":null}`, "")
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
			if err != nil {
				t.Fatal(err)
			}
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
	s := clusterOf(2, 1)
	s.Nodes[0].Labels["group"] = "gpu"
	s.Nodes[0].Status.Allocatable["example.com/gpu"] = resource.MustParse("4")
	s.Nodes[0].Status.Capacity = s.Nodes[0].Status.Allocatable
	web := ownedByAReplicaSet(s, on(podOf("web", "1"), "node-000"))
	unknown := podOf("hashed", "1")
	unknown.Labels = map[string]string{"pod-template-hash": "5d4"}
	unknown.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "shop-5d4", UID: "x", Controller: ptr.To(true)}}
	limits := v1.ResourceList{"example.com/gpu": resource.MustParse("1")}
	unknown.Spec.Containers[0].Resources.Limits = limits
	unknown.Spec.Containers[0].Resources.Requests["example.com/gpu"] = limits["example.com/gpu"]
	s.Pods = append(s.Pods, web, unknown)
	r := sideOf(t, "none", s, side.All)
	n := r.Nodes[0]
	if n.Name != "node-000" || n.Labels["group"] != "gpu" || !n.Today || n.Allocatable.Name("example.com/gpu", "").Value() != 4 {
		t.Errorf("%+v", n)
	}
	if p := r.Pod(side.KeyOf("default/web")); p.Owner != (cluster.Workload{Kind: "Deployment", Name: "above"}) || p.Today != "node-000" || p.Requests.Cpu().Value() != 1 {
		t.Errorf("%+v", p)
	}
	p := r.Pod(side.KeyOf("default/hashed"))
	if p.Owner != (cluster.Workload{Kind: "Deployment", Name: "shop"}) || p.Today != "" || p.Requests.Name("example.com/gpu", "").Value() != 1 || p.Node != "node-000" {
		t.Errorf("%+v", p)
	}
}

// ownedByAReplicaSet makes a pod one of a ReplicaSet, which a Deployment called above owns.
func ownedByAReplicaSet(s *snapshot.Snapshot, pod v1.Pod) v1.Pod {
	of := func(kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID("the-" + kind), Controller: ptr.To(true)}}
	}
	pod.Labels = map[string]string{"app": "web"}
	pod.OwnerReferences = of("ReplicaSet", "web")
	selector := metav1.LabelSelector{MatchLabels: pod.Labels}
	template := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: podOf("", "1").Spec}
	s.Deployments = []appsv1.Deployment{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "above", UID: "the-Deployment"},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](3), Selector: &selector, Template: template},
	}}
	s.ReplicaSets = []appsv1.ReplicaSet{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "the-ReplicaSet", OwnerReferences: of("Deployment", "above")},
		Spec:       appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](3), Selector: &selector, Template: template},
	}}
	return pod
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
	differ := sets.List(differing(map[string]string{"--seed": "1"}, map[string]string{"--seed": "2"}))
	if fmt.Sprint(differ) != "[--seed]" {
		t.Error(differ)
	}
}
