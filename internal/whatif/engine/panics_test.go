package engine

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/panics"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/scheduling"
)

func withPanics(config string) func(*Options) {
	return func(o *Options) {
		o.Config, _ = kubescheduler.Read([]byte(config))
		o.Plugins = panics.Plugins
	}
}

func panicking(point, on, cpu, more string) string {
	text := pod(strings.ToLower(point), on, cpu, more)
	return strings.Replace(text, "app: a", "app: a, "+panics.Label+": "+point, 1)
}

func TestPluginThatPanicsCostsThePodAnErrorThatNamesTheFunction(t *testing.T) {
	pods := pod("other", "", "1", "")
	for _, point := range append(panics.Points, panics.Harmless...) {
		pods += panicking(point, "", "10m", "")
	}
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+node("n2", "2")+"pods:\n"+pods), withPanics(panics.Config))
	outcomes(t, e)
	for _, point := range panics.Points {
		is := e.Outcome(types.NamespacedName{Namespace: "default", Name: strings.ToLower(point)})
		want := panics.Message(point)
		if is.State != scheduling.Failed || !strings.Contains(is.Message, want) {
			t.Errorf("%s: got %+v, want an error with %q", point, is, want)
		}
	}
	for pod, want := range map[string]string{
		"other": scheduling.Scheduled, "signpod": scheduling.Scheduled, "postbind": scheduling.Scheduled, "unreserve": scheduling.Unschedulable, "postfilter": scheduling.Unschedulable,
	} {
		is := e.Outcome(types.NamespacedName{Namespace: "default", Name: pod})
		if is.State != want {
			t.Errorf("%s: got %+v, want %s", pod, is, want)
		}
	}
	// An error in PostFilter does not change that the pod is unschedulable.
	is := e.Outcome(types.NamespacedName{Namespace: "default", Name: "postfilter"})
	if !strings.Contains(is.Message, panics.Message("PostFilter")) {
		t.Errorf("got %q", is.Message)
	}
}

func TestPluginThatPanicsInAPreemptionCostsThisPodOnly(t *testing.T) {
	const high = "priorityClassName: high,"
	e := over(t, read(t, "priorityClasses: [{metadata: {name: high}, value: 1000}]\nnodes:\n"+node("n1", "2")+"pods:\n"+pod("there", "n1", "2", "")+
		panicking("RemovePod", "", "1", high)), withPanics(panics.Config))
	got := outcomes(t, e)
	testkit.Has(t, got,
		"removepod: Unschedulable 0/1 nodes are available: 1 Insufficient cpu. preemption: running RemovePod on PreFilter plugin \"Panics\": a plugin, or the scheduler, "+panics.Message("RemovePod"),
		"there: Stayed n1",
	)
}

// The queue calls PreEnqueue in a handler for events, which belong to no pod.
func TestPluginThatPanicsAsItIsMadeOrInPreEnqueueIsAnErrorThatNamesTheFunction(t *testing.T) {
	for _, tt := range []struct{ config, pods, want string }{
		{unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: FactoryPanics}]}}}]\n", "", "testkit/panics.init.func2: on purpose"},
		{panics.Config, "pods:\n" + panicking("PreEnqueue", "", "1", ""), panics.Message("PreEnqueue")},
	} {
		o := Options{Cluster: read(t, "nodes:\n"+node("n1", "2")+tt.pods)}
		withPanics(tt.config)(&o)
		e, err := New(t.Context(), o)
		testkit.ErrorHas(t, err, tt.want)
		if e != nil {
			t.Error("the engine that failed is returned")
		}
	}
}

// A plugin's own handlers belong to no pod: there is no answer then.
func TestPluginThatPanicsInAHandlerIsAnErrorThatNamesTheFunction(t *testing.T) {
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+"pods:\n"+pod("a", "", "1", "")), nil)
	_, err := e.Cluster.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: panicsInHandler})
	testkit.Must(t, err)
	err = e.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "engine.panicsInHandler: on purpose") {
		t.Error(err)
	}
}

func panicsInHandler(any, any) { panic("on purpose") }
