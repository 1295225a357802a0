package load

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"k8s.io/klog/v2/textlogger"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// vector is an answer of Prometheus with a value per instance.
func vector(values map[string]string) string {
	var samples []string
	for instance, value := range values {
		samples = append(samples, fmt.Sprintf(`{"metric":{"instance":%q},"value":[1731423600.123,%q]}`, instance, value))
	}
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(samples, ",") + `]}}`
}

// answering serves one answer as Prometheus, and keeps the last request.
type answering struct {
	*httptest.Server
	status int
	answer string
	last   *http.Request
	form   string
}

func serve(t *testing.T, answer string) *answering {
	a := &answering{status: http.StatusOK, answer: answer}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, _ := io.ReadAll(r.Body)
		a.last, a.form = r, string(form)
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.answer)
	}))
	t.Cleanup(a.Close)
	return a
}

// polling is the default configuration of a Prometheus.
func polling(url string) Config {
	config := Default()
	config.URL = url
	return config
}

func build(t *testing.T, config Config, now func() time.Time) *load {
	t.Helper()
	testkit.Must(t, config.Validate())
	l, err := newLoad(config, testr.New(t), now)
	testkit.Must(t, err)
	return l
}

func (l *load) ask(t *testing.T) (map[string]float64, error) {
	return l.config.query(t.Context(), l.client)
}

var nodes = &algorithm.Args{Names: []string{"idle", "half", "full", "over", "under", "unknown"}}

var values = map[string]string{"idle": "0", "half:9100": "0.5", "full": "1", "over": "7", "under": "-Inf", "other": "0.2", "unknown": "NaN"}

func TestValuesBecomeScores(t *testing.T) {
	prometheus := serve(t, vector(values))
	for name, c := range map[string]struct {
		change func(*Config)
		want   []int64
	}{
		"less is better":  {func(*Config) {}, []int64{10, 5, 0, 0, 10, 5}},
		"more is better":  {func(c *Config) { c.Better = More }, []int64{0, 5, 10, 10, 0, 5}},
		"another range":   {func(c *Config) { c.Min, c.Max = -1, 10 }, []int64{9, 9, 8, 3, 10, 5}},
		"missing is zero": {func(c *Config) { c.Missing = 0 }, []int64{10, 5, 0, 0, 10, 0}},
	} {
		config := polling(prometheus.URL)
		c.change(&config)
		l := build(t, config, time.Now)
		l.poll(t.Context())
		got, err := l.Prioritize(t.Context(), nodes)
		testkit.Must(t, err)
		testkit.Equal(t, got, c.want, "%s", name)
		failures, err := l.Filter(t.Context(), nodes)
		testkit.Must(t, err)
		testkit.Equal(t, failures, nil, "%s: filtered without a threshold", name)
	}
}

func TestThresholdFiltersWhatIsWorse(t *testing.T) {
	prometheus := serve(t, vector(values))
	for better, want := range map[string]string{Less: "++--++", More: "-+++-+"} {
		config, threshold := polling(prometheus.URL), 0.5
		config.Better, config.Threshold = better, &threshold
		l := build(t, config, time.Now)
		l.poll(t.Context())
		failures, err := l.Filter(t.Context(), nodes)
		got := ""
		for _, failure := range failures {
			got += map[bool]string{true: "+", false: "-"}[failure == nil]
			if failure != nil && (failure.Unresolvable || !strings.Contains(failure.Reason, "node(s) had a load")) {
				t.Errorf("failure %+v", failure)
			}
		}
		testkit.Must(t, err)
		testkit.Equal(t, got, want, "%s is better", better)
	}
}

func TestStaleDataIsDropped(t *testing.T) {
	prometheus := serve(t, vector(values))
	now := time.Unix(1000, 0)
	config, threshold := polling(prometheus.URL), 0.5
	config.Threshold = &threshold
	l := build(t, config, func() time.Time { return now })
	neutral := algorithm.Equal(algorithm.Neutral, len(nodes.Names))

	expect := func(when string, ok, counts bool, detail string) {
		t.Helper()
		health := l.Health()
		if health.OK != ok || !strings.Contains(health.Detail, detail) {
			t.Errorf("%s: health %+v, want %v with %q", when, health, ok, detail)
		}
		scores, _ := l.Prioritize(t.Context(), nodes)
		failures, _ := l.Filter(t.Context(), nodes)
		if counts == slices.Equal(scores, neutral) || counts == (failures == nil) {
			t.Errorf("%s: scores %v, failures %v", when, scores, failures)
		}
	}
	expect("before the first query", false, false, "no data yet")
	l.poll(t.Context())
	expect("after it", true, true, "6 nodes, 0s old")
	prometheus.status, prometheus.answer = http.StatusServiceUnavailable, `{"status":"error","errorType":"timeout","error":"too busy"}`
	now = now.Add(time.Minute)
	l.poll(t.Context())
	expect("when Prometheus fails", false, true, "6 nodes, 1m0s old; there are no newer ones, and these count until they are 1m0s old: "+
		prometheus.URL+"/api/v1/query: status 503: query rejected: timeout: too busy")
	now = now.Add(time.Nanosecond)
	expect("when the data is too old", false, false, "data is stale (1m0s old)")
	got := l.Health().Gauges
	if got["query_failures"] != 1 || got["data_age_seconds"] < 60 || got["nodes"] != 6 {
		t.Errorf("gauges %v", got)
	}
	prometheus.status, prometheus.answer = http.StatusOK, vector(values)
	l.poll(t.Context())
	expect("when Prometheus is back", true, true, "0s old")
	prometheus.answer = vector(nil) // as of one that has just started
	now = now.Add(30 * time.Second)
	l.poll(t.Context())
	expect("when an answer is empty", false, true, "6 nodes, 30s old; there are no newer ones, and these count until they are 1m0s old: "+
		prometheus.URL+"/api/v1/query: status 200: query "+config.promQL()+": no series in the answer")
	now = now.Add(time.Minute)
	expect("when all answers are empty", false, false, "data is stale")
	got = l.Health().Gauges
	if got["query_failures"] != 2 || got["nodes"] != 6 {
		t.Errorf("gauges %v", got)
	}
}

func TestAnswerHasAValueForEachNode(t *testing.T) {
	const good = `{"metric":{"instance":"a"},"value":[1,"0.5"]}`
	beside := func(odd string) string {
		return `{"status":"success","data":{"resultType":"vector","result":[` + odd + `,` + good + `]},"warnings":["w"]}`
	}
	for answer, want := range map[string]string{
		vector(map[string]string{"a:1": "0.1", "a:2": "0.9", "a:3": "0.5"}): "map[a:0.9] <nil>", // the worst counts
		beside(`{"metric":{"instance":"b"},"value":[1,"x"]}`):               "map[a:0.5] <nil>",
		beside(`{"metric":{"instance":"b"},"value":[1]}`):                   "map[a:0.5] <nil>",
		beside(`{"metric":{"instance":"b"},"histogram":[1,{}]}`):            "map[a:0.5] <nil>",
		beside(`null`): "map[a:0.5] <nil>",
		"nonsense":     "not an answer of Prometheus",
		"":             "not an answer of Prometheus",
		`{"status":"error","errorType":"bad_data","error":"parse error"}`: "query rejected: bad_data: parse error",
		vector(nil): "query " + (&Config{NodeLabel: "instance"}).promQL() + ": no series in the answer",
		`{"status":"success","data":{"resultType":"matrix","result":[]}}`:                                            "the query returns a matrix, want a vector",
		`{"status":"success","data":{"resultType":"vector","result":{}}}`:                                            "not a vector of Prometheus",
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"instance":"a"},"value":[1,"x"]}]}}`: "none of 1 series has a value",
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"node":"a"},"value":[1,"1"]}]}}`:     `none of 1 series has a value and the label "instance"`,
	} {
		config := Default()
		values, err := config.decode([]byte(answer))
		got := fmt.Sprint(values, err)
		if !strings.HasPrefix(strings.TrimPrefix(got, "map[] "), want) {
			t.Errorf("%s: got %s, want %s", answer, got, want)
		}
	}
}

func TestAnswerThatIsTooLongIsAnError(t *testing.T) {
	config := polling(serve(t, `{"status":"`+strings.Repeat("x", maxAnswer)).URL)
	_, err := build(t, config, time.Now).ask(t)
	testkit.ErrorHas(t, err, "the answer is longer than 8388608 bytes")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(vector(values)))
	f.Add([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"instance":"[::1]:9100"},"value":[1]}]}}`))
	c := Default()
	f.Fuzz(func(t *testing.T, answer []byte) {
		got, err := c.decode(answer)
		for name, value := range got {
			if err != nil || name == "" || math.IsNaN(value) {
				t.Errorf("%q: %v, %v", name, value, err)
			}
		}
	})
}

func TestTokenIsReadForEveryQuery(t *testing.T) {
	prometheus := serve(t, vector(values))
	config := Default()
	config.URL, config.BearerTokenFile = prometheus.URL+"/prefix/", filepath.Join(t.TempDir(), "token")
	l := build(t, config, time.Now)
	_, err := l.ask(t)
	testkit.ErrorHas(t, err, "bearerTokenFile")
	from := map[string]bool{} // addresses of connections
	for _, token := range []string{"one", "two"} {
		testkit.WriteFile(t, config.BearerTokenFile, token+"\n")
		_, err := l.ask(t)
		if err != nil || prometheus.last.Header.Get("Authorization") != "Bearer "+token {
			t.Errorf("%v, authorization %q", err, prometheus.last.Header.Get("Authorization"))
		}
		from[prometheus.last.RemoteAddr] = true
	}
	testkit.Equal(t, len(from), 1, "connections of the queries")
	testkit.Equal(t, prometheus.last.URL.Path, "/prefix/api/v1/query", "what is asked")
	testkit.Has(t, prometheus.form, "node_cpu_seconds_total")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	target := serve(t, vector(values))
	redirecting := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
	defer redirecting.Close()
	_, err := build(t, polling(redirecting.URL), time.Now).ask(t)
	testkit.ErrorHas(t, err, "redirects are not followed")
}

// TestValuesOfNoNodeThatIsAskedForAreReported: Prometheus names its targets by
// address and port, and Kubernetes its nodes by name.
func TestValuesOfNoNodeThatIsAskedForAreReported(t *testing.T) {
	l := build(t, polling(serve(t, vector(map[string]string{"10.0.0.1:9100": "0.1", "node-3": "0.9"})).URL), time.Now)
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
	var log bytes.Buffer
	l, err := newLoad(polling(prometheus.URL), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))), time.Now)
	testkit.Must(t, err)
	for _, answer := range []string{"nonsense", "more nonsense", vector(nil), vector(nil), vector(values), vector(values)} {
		prometheus.answer = answer
		l.poll(t.Context())
	}
	for line, want := range map[string]int{"No values from Prometheus": 1, "Prometheus gives values again": 1} {
		testkit.Equal(t, strings.Count(log.String(), line), want, "lines with %q in\n%s", line, &log)
	}
}
