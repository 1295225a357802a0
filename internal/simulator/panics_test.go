package simulator

import (
	"context"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/panics"
)

// usePanics runs a test with a plugin that panics.
func usePanics(t *testing.T) {
	t.Helper()
	sim.settings.Plugins = panics.Plugins
	t.Cleanup(func() { sim.settings.Plugins = nil })
	use(t, "native")
	apply(t, panics.Config)
}

func addPanickingPod(t *testing.T, point string) {
	t.Helper()
	create(t, sim, "/api/v1/namespaces/default/pods", "metadata: {name: "+strings.ToLower(point)+", labels: {"+panics.Label+": "+point+"}}\nspec: {containers: [{name: web, image: web}]}")
}

// hasEvent waits for an event of a pod with a text.
func hasEvent(t *testing.T, pod, text string) {
	t.Helper()
	testkit.Eventually(t, "an event of "+pod+" says "+text, func(ctx context.Context) error {
		events, err := sim.Client().CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
		if err != nil {
			return err
		}
		var all []string
		for i := range events.Items {
			all = append(all, events.Items[i].Message)
			if strings.Contains(events.Items[i].Message, text) {
				return nil
			}
		}
		return fmt.Errorf("there are %q", all)
	})
}

// All points are tried in whatif/engine.
func TestPluginThatPanicsCostsThePodAnErrorThatNamesTheFunction(t *testing.T) {
	usePanics(t)
	addNodes(t, "node-1", "node-2")
	for _, point := range []string{"PreEnqueue", "QueueingHint", "Filter", "Score", "Bind"} {
		addPanickingPod(t, point)
	}
	for _, point := range []string{"Filter", "Score", "Bind"} {
		a := attempt(t, strings.ToLower(point), recorder.Failed)
		if !strings.Contains(a.Message, panics.Message(point)) {
			t.Errorf("%s: got %q", point, a.Message)
		}
		hasEvent(t, strings.ToLower(point), panics.Message(point))
	}
	attempt(t, "queueinghint", recorder.Unschedulable)
	makeNodes(t, "node-3") // for which the hint panics
	err := sim.ApplySchedulerConfig(t.Context(), []byte("profiles: [{plugins: {multiPoint: {enabled: [{name: FactoryPanics}]}}}]\n"))
	testkit.ErrorHas(t, err, "testkit/panics.init.func2: on purpose")
	addPod(t, "goes-on", "")
	attempt(t, "goes-on", recorder.Scheduled)
	testkit.Must(t, sim.Err())
}

// A plugin's own handlers belong to no pod: the informers go on after a panic.
func TestPluginThatPanicsInAHandlerDoesNotEndTheSimulator(t *testing.T) {
	called := make(chan string, 10)
	sim.settings.Prepare = func(sched *scheduler.Scheduler) {
		nodes := sched.Profiles["default-scheduler"].SharedInformerFactory().Core().V1().Nodes().Informer()
		_, err := nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(node any) {
			called <- node.(*v1.Node).Name
			panic("on purpose")
		}})
		if err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { sim.settings.Prepare = nil })
	use(t, "native")
	makeNodes(t, "node-1", "node-2")
	for range 2 {
		select {
		case <-called:
		case <-sim.Done():
			t.Fatal(sim.Err())
		}
	}
	addPod(t, "goes-on", "")
	attempt(t, "goes-on", recorder.Scheduled)
}
