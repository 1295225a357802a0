package simulator

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// closedPort is an address without a listener: a port that was free a moment ago may
// be another program's by now.
const closedPort = "127.0.0.1:1"

func TestBadConfigurationLeavesTheSchedulerRunning(t *testing.T) {
	use(t, "native")
	before := sim.SchedulerConfig()
	for _, test := range []struct{ name, config, want string }{
		{"invalid YAML", "profiles: [", "yaml: line 1"},
		{"nothing", "", "the configuration is empty"},
		{"unknown field", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofile: []\n", `profile: unknown field: do you mean "profiles"?`},
		{"unknown plugin", "profiles:\n- plugins: {multiPoint: {enabled: [{name: Nope}]}}\n", "plugin Nope"},
		{"no such guest", "profiles: [{plugins: {multiPoint: {enabled: [{name: Wasm}]}}, pluginConfig: [{name: Wasm, args: {guestURL: 'http://static-webserver/nope.wasm'}}]}]\n", "404"},
		{"two profiles of one name", "profiles: [{schedulerName: a}, {schedulerName: a}]\n", "profiles[1].schedulerName: Duplicate value: profiles[0].schedulerName"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := sim.ApplySchedulerConfig(t.Context(), []byte(test.config))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, test.want)
			}
			testkit.Equal(t, string(sim.SchedulerConfig()), string(before), "the configuration")
		})
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err := sim.ApplySchedulerConfig(canceled, []byte("profiles: [{schedulerName: a}]\n"))
	if err == nil || !bytes.Equal(sim.SchedulerConfig(), before) {
		t.Errorf("an apply that is given up: %v; the configuration is now %s", err, sim.SchedulerConfig())
	}
	addNodes(t, "kubecon-1", "other")
	addPod(t, "p", "kubecon-")
	testkit.Equal(t, attempt(t, "p", recorder.Scheduled).Node, "kubecon-1", "the node")
}

func TestAnotherConfigurationTakesEffectAndResetTakesItBack(t *testing.T) {
	use(t, "none")
	addNodes(t, "other")
	addPod(t, "p", "kubecon-")
	attempt(t, "p", recorder.Scheduled) // the annotation means nothing now
	reset(t)()
	if len(sim.Recorder().Attempts("default", "p")) > 0 || !bytes.Equal(sim.SchedulerConfig(), sim.baseline.config) {
		t.Error("not everything was reset")
	}
	addNodes(t, "other")
	addPod(t, "p", "kubecon-")
	attempt(t, "p", recorder.Unschedulable)
}

// TestRestartsLeakNothing restarts through every kind of variant, and each time tries a bad
// configuration, too.
func TestRestartsLeakNothing(t *testing.T) {
	t.Cleanup(reset(t))
	const restarts = 6
	variants := []string{"native", "none", "v2"}
	restart := func(i int) {
		config, _ := SchedulerConfig(variants[i%len(variants)])
		apply(t, string(config))
		if err := sim.ApplySchedulerConfig(t.Context(), []byte("profiles: [{schedulerName: a}, {schedulerName: a}]")); err == nil {
			t.Fatal("a bad configuration was applied")
		}
	}
	for i := range len(variants) { // what is made once, is made now
		restart(i)
	}
	heap, goroutines := testkit.HeapInUse(), runtime.NumGoroutine()
	for i := range restarts {
		restart(i)
	}
	eventually(t, "the goroutines of the old schedulers end", func() bool {
		sim.changes.send() // look again
		return runtime.NumGoroutine() <= goroutines+10
	})
	testkit.Eventually(t, "the memory of the old schedulers is free", func(context.Context) error {
		grown := testkit.HeapInUse() - heap // cleanups of guests run beside the test
		if grown > 8<<20+restarts*(10<<10) {
			return fmt.Errorf("the heap has grown by %d bytes in %d restarts", grown, restarts)
		}
		return nil
	})
}
