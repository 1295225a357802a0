package naming

import (
	"fmt"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func nodeNamed(name string) *v1.Node { return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

// newCache is a scheduler's. What it can be given, but for the context, differs between
// minors of Kubernetes.
func newCache(t *testing.T) cache.Cache {
	make := reflect.ValueOf(cache.New)
	given := []reflect.Value{reflect.ValueOf(t.Context())}
	for i := 1; i < make.Type().NumIn(); i++ {
		given = append(given, reflect.Zero(make.Type().In(i)))
	}
	return make.Call(given)[0].Interface().(cache.Cache)
}

// The scheduler's own cache says what a list tells: a new one for nodes that come
// and go, and none for changed ones, nor for pods.
func TestSchedulersListIsNewWhenNodesAre(t *testing.T) {
	metrics.Register()
	logger := klog.FromContext(t.Context())
	scheduler, snapshot := newCache(t), cache.NewEmptySnapshot()
	list := func() []fwk.NodeInfo {
		testkit.Must(t, scheduler.UpdateSnapshot(logger, snapshot))
		nodes, err := snapshot.NodeInfos().List()
		testkit.Must(t, err)
		return nodes
	}
	for i := range 3 {
		scheduler.AddNode(logger, nodeNamed(fmt.Sprint("node-", i)))
	}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web"}, Spec: v1.PodSpec{NodeName: "node-1"}}
	other := nodeNamed("node-1")
	other.Labels = map[string]string{"zone": "west"}
	before := list()
	for _, step := range []struct {
		what string
		do   func() error
		same bool
	}{
		{"nothing", func() error { return nil }, true},
		{"a pod is added", func() error { return scheduler.AddPod(logger, pod) }, true},
		{"a node changes", func() error { scheduler.UpdateNode(logger, nodeNamed("node-1"), other); return nil }, true},
		{"a pod is removed", func() error { return scheduler.RemovePod(logger, pod) }, true},
		{"a node is added", func() error { scheduler.AddNode(logger, nodeNamed("node-3")); return nil }, false},
		{"one node for another", func() error {
			scheduler.AddNode(logger, nodeNamed("node-4"))
			return scheduler.RemoveNode(logger, nodeNamed("node-0"))
		}, false},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		after := list()
		if Same(before, after) != step.same {
			t.Errorf("%s: the list is the same: %v", step.what, !step.same)
		}
		names := map[string]bool{}
		for _, node := range before {
			names[node.Node().Name] = true
		}
		for _, node := range after {
			if step.same && !names[node.Node().Name] {
				t.Errorf("%s: the same list, but %s is new", step.what, node.Node().Name)
			}
		}
		before = after
	}
}

func TestReasonsAreTheSchedulersWords(t *testing.T) {
	small, noGPU := "node(s) were small", "node(s) had no GPU"
	reasons := []string{small, small, noGPU, small, "", noGPU, small}
	var list []fwk.NodeInfo
	for i := range reasons {
		info := framework.NewNodeInfo()
		info.SetNode(nodeNamed(fmt.Sprint("n", i)))
		list = append(list, info)
	}
	n := Divide(list, func(i int) string { return reasons[i] })
	if n.Rejected != "2 node(s) had no GPU, 4 node(s) were small" || n.Nodes != 1 || !n.Result.NodeNames.Equal(sets.New("n4")) {
		t.Errorf("got %+v", n)
	}
}

func TestMostNodesAreNotWorthNaming(t *testing.T) {
	for nodes, most := range map[int]int{1: 0, 10: 8, 100: 80, 1000: 704, 5000: 2316, 15_000: 5373} {
		for named := range nodes + 1 {
			got, want := worth(named, nodes), 0 < named && named <= most
			if got != want {
				t.Errorf("%d of %d: %v", named, nodes, got)
			}
		}
	}
}
