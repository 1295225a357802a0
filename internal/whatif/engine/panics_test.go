package engine

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	ours "wasmkwokwizardry.io/regex-scheduling/internal/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/panics"
)

func withPanics(config string) func(*Options) {
	return func(o *Options) {
		o.Config, _ = ours.Read([]byte(config))
		o.Plugins = panics.Plugins
	}
}

func panicking(point, on, cpu, more string) string {
	text := pod(strings.ToLower(point), on, cpu, more)
	return strings.Replace(text, "app: a", "app: a, "+panics.Label+": "+point, 1)
}

func TestPluginThatPanicsCostsThePodAnErrorThatNamesIt(t *testing.T) {
	pods := pod("other", "", "1", "")
	for _, point := range append(panics.Points, panics.Harmless...) {
		pods += panicking(point, "", "10m", "")
	}
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+node("n2", "2")+"pods:\n"+pods), withPanics(panics.Config))
	outcomes(t, e)
	for _, point := range panics.Points {
		is := e.Outcome(types.NamespacedName{Namespace: "default", Name: strings.ToLower(point)})
		want := panics.Message(point)
		if is.State != Failed || !strings.Contains(is.Message, want) {
			t.Errorf("%s: got %+v, want an error with %q", point, is, want)
		}
	}
	for pod, want := range map[string]string{
		"other": Scheduled, "signpod": Scheduled, "postbind": Scheduled, "unreserve": Unschedulable, "queueinghint": Unschedulable, "postfilter": Unschedulable,
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

func TestPluginThatPanicsAsAPodComesOrPreemptsCostsThisPodOnly(t *testing.T) {
	const high = "priorityClassName: high,"
	e := over(t, read(t, "priorityClasses: [{metadata: {name: high}, value: 1000}]\nnodes:\n"+node("n1", "2")+"pods:\n"+pod("there", "n1", "2", "")+
		panicking("RemovePod", "", "1", high)+panicking("PreEnqueue", "", "1", "")), withPanics(panics.Config))
	got := outcomes(t, e)
	testkit.Has(t, got,
		"preenqueue: NotAsked Panics keeps it out of the queue: plugin Panics panicked in PreEnqueue: on purpose",
		"removepod: Unschedulable 0/1 nodes are available: 1 Insufficient cpu. preemption: running RemovePod on PreFilter plugin \"Panics\": plugin Panics panicked in RemovePod: on purpose",
		"there: Stayed n1",
	)
}

func TestPluginThatPanicsAsItIsMadeIsAnErrorThatNamesIt(t *testing.T) {
	o := Options{Cluster: read(t, "nodes:\n"+node("n1", "2"))}
	withPanics(unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: FactoryPanics}]}}}]\n")(&o)
	_, err := New(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "plugin FactoryPanics panicked in its factory: on purpose") {
		t.Error(err)
	}
}

// A plugin's own handlers belong to no pod: there is no answer then.
func TestPluginThatPanicsInAHandlerIsAnErrorThatNamesTheFunction(t *testing.T) {
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+"pods:\n"+pod("a", "", "1", "")), nil)
	_, err := e.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: panicsInHandler})
	testkit.Must(t, err)
	err = e.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "engine.panicsInHandler: on purpose") {
		t.Error(err)
	}
}

func panicsInHandler(any, any) { panic("on purpose") }
