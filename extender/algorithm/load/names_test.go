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
	config := defaults()
	config.URL = serve(t, vector(map[string]string{"10.0.0.1:9100": "0.1", "node-3": "0.9"})).URL
	l, _ := logged(t, config)
	l.poll(t.Context())
	const mismatch = `2 nodes, 0s old; the values are for names like "10.0.0.1", and none is for a requested node, like "node-1": set nodeLabel to a label with the node's name, or have Prometheus relabel instance to it`
	for i, step := range []struct {
		ask    []string
		ok     bool
		misses float64
	}{{nil, true, 0}, {[]string{"node-1", "node-2"}, false, 1}, {[]string{"node-1", "node-3"}, true, 1}, {[]string{"node-1"}, false, 2}, {nil, true, 2}} {
		_, _ = l.Prioritize(t.Context(), &algorithm.Args{Names: step.ask})
		health := l.Health()
		if health.OK != step.ok || health.Gauges["unmatched_requests"] != step.misses || !step.ok && health.Detail != mismatch {
			t.Errorf("step %d %+v: %+v", i, step, health)
		}
	}
}

func TestReasonForNoValuesIsLoggedOnce(t *testing.T) {
	prometheus := serve(t, "nonsense")
	config := defaults()
	config.URL = prometheus.URL
	l, log := logged(t, config)
	for _, answer := range []string{"nonsense", "more nonsense", vector(nil), vector(nil), vector(values), vector(values)} {
		prometheus.answer = answer
		l.poll(t.Context())
	}
	for line, want := range map[string]int{"No values from Prometheus": 1, "Prometheus gives values again": 1} {
		got := strings.Count(log.String(), line)
		if got != want {
			t.Errorf("%q is there %d times, want %d:\n%s", line, got, want, log)
		}
	}
}
