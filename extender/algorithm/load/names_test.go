package load

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2/textlogger"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// logged builds one that writes its log into the buffer.
func logged(t *testing.T, config Config) (*load, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	l, err := newLoad(config, textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))), time.Now)
	testkit.Must(t, err)
	return l, &log
}

// TestValuesOfNoNodeThatIsAskedForAreReported: Prometheus names its targets by
// address and port, and Kubernetes its nodes by name.
func TestValuesOfNoNodeThatIsAskedForAreReported(t *testing.T) {
	prometheus := serve(t, vector(map[string]string{"10.0.0.1:9100": "0.1", "10.0.0.2:9100": "0.9"}))
	config, threshold := defaults(), 0.5
	config.URL, config.Threshold = prometheus.URL, &threshold
	l, log := logged(t, config)
	l.poll(t.Context())
	health := l.Health()
	if !health.OK {
		t.Errorf("before a request: %+v", health)
	}
	ask := func(names ...string) {
		args := &algorithm.Args{Names: names}
		_, _ = l.Filter(t.Context(), args)
		_, _ = l.Prioritize(t.Context(), args)
	}
	const mismatch = `the values are for names like "10.0.0.1", and none is for a requested node, like "node-1": set nodeLabel to a label with the node's name, or have Prometheus relabel instance to it`
	ask() // says nothing
	for range 3 {
		ask("node-1", "node-2")
		l.poll(t.Context())
	}
	health = l.Health()
	if health.OK || health.Detail != "2 nodes, 0s old; "+mismatch || health.Gauges["unmatched_requests"] != 6 {
		t.Errorf("health %+v", health)
	}
	got := strings.Count(log.String(), "Warning: ")
	if got != 1 || !strings.Contains(log.String(), "none is for a requested node") {
		t.Errorf("%d warnings:\n%s", got, log)
	}
	prometheus.answer = vector(map[string]string{"node-1": "0.1"}) // relabelled
	l.poll(t.Context())
	ask("node-1", "node-2")
	health = l.Health()
	if !health.OK || !strings.Contains(log.String(), "in common again") {
		t.Errorf("health %+v, log\n%s", health, log)
	}
}

// TestOneKnownNodeSettlesIt: a pod that only nodes without an exporter suit says
// nothing of the others, until the node that was known has no value any more.
func TestOneKnownNodeSettlesIt(t *testing.T) {
	prometheus := serve(t, vector(map[string]string{"a": "0.1"}))
	config := defaults()
	config.URL = prometheus.URL
	l, log := logged(t, config)
	for i, step := range []struct {
		value, ask string
		ok         bool
	}{{"a", "new", false}, {"a", "a", true}, {"a", "new", true}, {"a", "new", true}, {"b", "", true}, {"b", "new", false}, {"b", "b", true}, {"b", "new", true}} {
		prometheus.answer = vector(map[string]string{step.value: "0.1"})
		l.poll(t.Context())
		if step.ask != "" {
			_, _ = l.Prioritize(t.Context(), &algorithm.Args{Names: []string{step.ask}})
		}
		health := l.Health()
		if health.OK != step.ok {
			t.Errorf("step %d %+v: %+v", i, step, health)
		}
	}
	got := strings.Count(log.String(), "Warning: ")
	if got != 2 {
		t.Errorf("%d warnings:\n%s", got, log)
	}
}

func TestEachReasonForNoValuesIsLoggedOnce(t *testing.T) {
	prometheus := serve(t, "nonsense")
	config := defaults()
	config.URL = prometheus.URL
	l, log := logged(t, config)
	for _, answer := range []string{"nonsense", "more nonsense", vector(nil), vector(nil), vector(values), vector(values)} {
		prometheus.answer = answer
		l.poll(t.Context())
	}
	for line, want := range map[string]int{"No values from Prometheus": 2, "no series in the answer": 1, "Prometheus gives values again": 1} {
		got := strings.Count(log.String(), line)
		if got != want {
			t.Errorf("%q is there %d times, want %d:\n%s", line, got, want, log)
		}
	}
}
