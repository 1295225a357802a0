package simulator

import (
	"fmt"
	"os"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// TestALargeCluster reports how long 5,000 pods on 1,000 nodes take. It runs
// when SCALE is set.
func TestALargeCluster(t *testing.T) {
	if os.Getenv("SCALE") == "" {
		t.Skip("set SCALE to run it")
	}
	const nodes, pods = 1000, 5000
	snapshot := &Snapshot{}
	room := v1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("256Gi"), "pods": resource.MustParse("110")}
	for i := range nodes {
		snapshot.Nodes = append(snapshot.Nodes, v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", []string{"kubecon", "cncf"}[i%2], i)},
			Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
		})
	}
	patterns := []string{"kubecon-.*", "cncf-.*", "^kubecon-[0-9]+4$", "", "nowhere"}
	for i := range pods {
		snapshot.Pods = append(snapshot.Pods, v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p-", i), Namespace: "default", Annotations: map[string]string{regex.Annotation: patterns[i%5]}},
			Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "c"}}},
		})
	}
	report := func(what string, began time.Time) {
		t.Logf("%s: %.1f s, %+v", what, time.Since(began).Seconds(), measure())
	}
	began := time.Now()
	if err := sim.Import(t.Context(), snapshot, nil); err != nil {
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
