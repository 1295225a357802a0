package simulator

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// TestALargeCluster reports how long 5,000 pods on 1,000 nodes take. It runs
// when SCALE is set.
func TestALargeCluster(t *testing.T) {
	if os.Getenv("SCALE") == "" {
		t.Skip("set SCALE to run it")
	}
	const nodes, pods = 1000, 5000
	objects := &snapshot.Snapshot{}
	room := v1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("256Gi"), "pods": resource.MustParse("110")}
	for i := range nodes {
		objects.Nodes = append(objects.Nodes, v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", []string{"kubecon", "cncf"}[i%2], i)},
			Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
		})
	}
	patterns := []string{"kubecon-.*", "cncf-.*", "^kubecon-[0-9]+4$", "", "unmatched"}
	for i := range pods {
		objects.Pods = append(objects.Pods, v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p-", i), Namespace: "default", Annotations: map[string]string{regex.Annotation: patterns[i%5]}},
			Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "c"}}},
		})
	}
	report := func(what string, began time.Time) {
		t.Logf("%s: %.1f s, %+v", what, time.Since(began).Seconds(), measure())
	}
	began := time.Now()
	if err := sim.Import(t.Context(), objects, nil); err != nil {
		t.Fatal(err)
	}
	report("import", began)
	changes := sim.Changes(t.Context())
	for tried() < pods {
		select {
		case <-changes:
		case <-time.After(patience):
			t.Fatalf("%d of %d pods have been tried, and no other for %s", tried(), pods, patience)
		}
	}
	report("scheduling", began)
	began = time.Now()
	if err := sim.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	report("reset", began)
}

// TestACopyOfALargeCluster reports how long it takes until 10,000 pods of 200
// replica sets run where they ran, on 1,000 nodes, from a file on. It runs when
// SCALE is set.
func TestACopyOfALargeCluster(t *testing.T) {
	if os.Getenv("SCALE") == "" {
		t.Skip("set SCALE to run it")
	}
	t.Cleanup(reset(t))
	const nodes, sets, pods = 1000, 200, 10_000
	var file bytes.Buffer
	if err := largeCopy(nodes, sets, pods).WriteYAML(&file); err != nil {
		t.Fatal(err)
	}
	t.Logf("a file of %d MB", file.Len()>>20)
	began := time.Now()
	in, _, err := snapshot.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("read: %.1f s", time.Since(began).Seconds())
	if err := sim.Import(t.Context(), in, nil); err != nil {
		t.Fatal(err)
	}
	t.Logf("imported: %.1f s, %+v", time.Since(began).Seconds(), measure())
	changes := sim.Changes(t.Context())
	for running() < pods {
		select {
		case <-changes:
		case <-time.After(patience):
			t.Fatalf("%d of %d pods run, and no other for %s", running(), pods, patience)
		}
	}
	t.Logf("running: %.1f s, %+v", time.Since(began).Seconds(), measure())
}

// largeCopy is a snapshot in which all pods have nodes.
func largeCopy(nodes, sets, pods int) *snapshot.Snapshot {
	s := &snapshot.Snapshot{}
	room := v1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("256Gi"), "pods": resource.MustParse("110")}
	for i := range nodes {
		s.Nodes = append(s.Nodes, v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("kubecon-", i), Labels: map[string]string{"zone": fmt.Sprint(i % 3)}},
			Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
		})
	}
	name := func(i int) string { return fmt.Sprint("app-", i%sets) }
	template := func(i int) (metav1.ObjectMeta, v1.PodSpec) {
		return metav1.ObjectMeta{Namespace: "default", Labels: map[string]string{"app": name(i)}, Annotations: map[string]string{regex.Annotation: "kubecon-.*"}},
			v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse("500m")}}}}}
	}
	for i := range sets {
		meta, spec := template(i)
		s.ReplicaSets = append(s.ReplicaSets, appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: name(i), Namespace: "default", UID: types.UID(name(i))},
			Spec: appsv1.ReplicaSetSpec{
				Replicas: ptr.To(int32(pods / sets)), Selector: &metav1.LabelSelector{MatchLabels: meta.Labels},
				Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels, Annotations: meta.Annotations}, Spec: spec},
			},
		})
	}
	for i := range pods {
		meta, spec := template(i)
		meta.Name, spec.NodeName = fmt.Sprint(name(i), "-", i), s.Nodes[i%nodes].Name
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name(i), UID: types.UID(name(i)), Controller: ptr.To(true)}}
		s.Pods = append(s.Pods, v1.Pod{ObjectMeta: meta, Spec: spec})
	}
	return s
}

// running counts the pods that run.
func running() int {
	pods, _ := sim.Informers().Core().V1().Pods().Lister().List(labels.Everything())
	n := 0
	for _, pod := range pods {
		if pod.Status.Phase == v1.PodRunning {
			n++
		}
	}
	return n
}

// tried counts the pods that have a node, or a reason to have none.
func tried() int {
	pods, _ := sim.Informers().Core().V1().Pods().Lister().List(labels.Everything())
	n := 0
	for _, pod := range pods {
		if pod.Spec.NodeName != "" || len(pod.Status.Conditions) > 0 {
			n++
		}
	}
	return n
}
