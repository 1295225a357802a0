package simulator

import (
	"context"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// sim is there for all tests; each leaves it as it was.
var sim *Simulator

func TestMain(m *testing.M) {
	testkit.Main(m, func(ctx context.Context) (stop func() error, err error) {
		sim, err = Start(ctx, Config{Variant: "native", Warnings: &console})
		return sim.Stop, err
	})
}

// eventually waits until a condition holds. It looks again whenever anything in
// the simulator changes.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	changes := sim.Changes(ctx)
	for !holds() {
		select {
		case <-changes:
		case <-ctx.Done():
			t.Fatalf("it did not come to pass: %s; there are\n%s", what, allThere())
		}
	}
}

// allThere has a line for each node and each pod.
func allThere() string {
	var lines strings.Builder
	core := sim.Informers().Core().V1()
	nodes, _ := core.Nodes().Lister().List(labels.Everything()) // a cache's lister has no errors
	for _, node := range nodes {
		fmt.Fprintf(&lines, "node %s %+v allocatable %v\n", node.Name, node.Spec, node.Status.Allocatable)
	}
	pods, _ := core.Pods().Lister().List(labels.Everything())
	for _, pod := range pods {
		fmt.Fprintf(&lines, "pod %s/%s on %q %+v", pod.Namespace, pod.Name, pod.Spec.NodeName, pod.Status)
		for _, a := range sim.Recorder().Attempts(pod.Namespace, pod.Name) {
			fmt.Fprintf(&lines, "; %d: %s %s %+v", a.Number, a.Result, a.Message, a.Preemption)
		}
		lines.WriteByte('\n')
	}
	return lines.String()
}

// use runs a test with a configuration, and leaves an empty simulator behind.
func use(t *testing.T, variant string) {
	t.Helper()
	config, err := SchedulerConfig(variant)
	testkit.Must(t, err)
	apply(t, string(config))
	t.Cleanup(reset(t))
}

func apply(t *testing.T, config string) {
	t.Helper()
	testkit.Must(t, sim.ApplySchedulerConfig(t.Context(), []byte(config)))
}

func reset(t *testing.T) func() {
	return func() {
		if err := sim.Reset(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// create makes an object of a manifest at a path of the API.
func create(t *testing.T, s *Simulator, path, manifest string) {
	t.Helper()
	objects.Post(t, s.Client().CoreV1().RESTClient(), path, manifest)
}

// addNodes makes nodes, and returns once the scheduler knows them all.
func addNodes(t *testing.T, names ...string) {
	t.Helper()
	makeNodes(t, names...)
	apply(t, string(sim.SchedulerConfig())) // it hears of them in its own time, but begins with all there are
}

// makeNodes makes nodes, for pending pods.
func makeNodes(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		create(t, sim, "/api/v1/nodes", "metadata: {name: "+name+"}")
	}
	eventually(t, "the nodes have room", func() bool {
		for _, name := range names {
			node, err := sim.Informers().Core().V1().Nodes().Lister().Get(name)
			if err != nil || node.Status.Allocatable.Pods().IsZero() {
				return false
			}
		}
		return true
	})
}

func addPod(t *testing.T, name, pattern string) {
	t.Helper()
	addPodWith(t, name, pattern, "")
}

// addPodWith makes a pod whose container asks for some CPU.
func addPodWith(t *testing.T, name, pattern, cpu string) {
	t.Helper()
	requests := ""
	if cpu != "" {
		requests = ", resources: {requests: {cpu: " + cpu + "}}"
	}
	create(t, sim, "/api/v1/namespaces/default/pods", fmt.Sprintf(
		"metadata: {name: %s, annotations: {%s: %q}}\nspec: {containers: [{name: web, image: web%s}]}", name, regex.Annotation, pattern, requests))
}

func getPod(t *testing.T, namespace, name string) *v1.Pod {
	t.Helper()
	pod, err := sim.Client().CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
	testkit.Must(t, err)
	return pod
}

// attempt waits for the newest attempt for a pod to have a result.
func attempt(t *testing.T, name string, result recorder.Result) recorder.Attempt {
	t.Helper()
	var last recorder.Attempt
	eventually(t, name+" is "+string(result), func() bool {
		attempts := sim.Recorder().Attempts("default", name)
		if len(attempts) > 0 {
			last = attempts[0]
		}
		return last.Result == result
	})
	return last
}

// columnOf finds a plugin's column.
func columnOf(t *testing.T, a recorder.Attempt, name string) int {
	t.Helper()
	for i, column := range a.Columns {
		if column.Name == name {
			return i
		}
	}
	t.Fatalf("no column %s in %+v", name, a.Columns)
	return -1
}
