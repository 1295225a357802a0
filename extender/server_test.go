package extender_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

func TestExtenderPagesSayWhatItIs(t *testing.T) {
	handler := newExtender(t, configure(t, "filter: regex\nprioritize: load\nalgorithms: {load: {config: {url: 'http://127.0.0.1:1'}}}")).Handler()
	for path, want := range map[string]string{
		"/":        "regex-scheduling extender v0.0.0-test for kube-scheduler, filter: regex, prioritize: load\n",
		"/healthz": "ok\n",
		"/readyz":  "ok\n[-] load: no data yet",
		"/version": `"version":"v0.0.0-test"`,
		"/metrics": `extender_build_info{version="v0.0.0-test"} 1`,
	} {
		w := get(handler, path)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %.300s; want %s", path, w.Code, w.Body, want)
		}
	}
}

func TestExtenderMetricsCountByVerbAlgorithmAndOutcome(t *testing.T) {
	handler := newExtender(t, loadConfig(t, "")).Handler()
	post(handler, "/filter", corpus.Names("^kubecon-", 10))
	post(handler, "/filter", corpus.Full("^kubecon-", 10))
	post(handler, "/filter", []byte(`{"Pod":{}}`))
	post(handler, "/prioritize", corpus.Names("", 10))
	post(handler, "/prioritize", []byte("nonsense"))
	page := get(handler, "/metrics").Body.String()
	passing := strings.Count(string(corpus.Names("", 10)), `"kubecon-`)
	for _, want := range []string{
		`extender_requests_total{algorithm="regex",outcome="ok",verb="filter"} 2`,
		`extender_requests_total{algorithm="regex",outcome="bad_request",verb="filter"} 1`,
		`extender_requests_total{algorithm="regex",outcome="ok",verb="prioritize"} 1`,
		`extender_requests_total{algorithm="regex",outcome="bad_request",verb="prioritize"} 1`,
		`extender_nodes_in_total{algorithm="regex",outcome="ok",verb="filter"} 20`,
		`extender_nodes_out_total{algorithm="regex",outcome="ok",verb="filter"} ` + fmt.Sprint(2*passing),
		`extender_request_duration_seconds_count{algorithm="regex",outcome="ok",verb="filter"} 2`,
		`extender_algorithm_healthy{algorithm="regex"} 1`,
		`extender_requests_in_flight 0`, `extender_buffered_bytes 0`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("%s is missing in the metrics", want)
		}
	}
}

// TestExtenderReportsAMistypedVerb in the log, once in a while, and in the metrics.
func TestExtenderReportsAMistypedVerb(t *testing.T) {
	e, log := newLogging(t, 0)
	for range 5 {
		post(e.Handler(), "/prioritise", corpus.Names("", 10))
	}
	get(e.Handler(), "/filter")
	page := get(e.Handler(), "/metrics").Body.String()
	if !strings.Contains(page, "extender_unknown_requests_total 6\n") {
		t.Error("extender_unknown_requests_total is not 6")
	}
	if strings.Count(log.String(), "/prioritise") != 1 || !strings.Contains(log.String(), "fix filterVerb, preemptVerb or prioritizeVerb") {
		t.Errorf("want one line about the path: %s", log.String())
	}
}

func TestExtenderLogsEachRequestAtVerbosity4(t *testing.T) {
	for verbosity, lines := range map[int]int{0: 0, 4: 1} {
		e, log := newLogging(t, verbosity)
		post(e.Handler(), "/filter", []byte(`{"Pod":{"metadata":{"name":"web","annotations":{"scheduler.wasmkwokwizardry.io/regex":"b"}}},"NodeNames":["a","b","c"]}`))
		got := log.String()
		if strings.Count(got, "\n") != lines || lines > 0 && !strings.Contains(got, `"Answered" verb="filter" pod="/web" outcome="ok" nodesIn=3 nodesOut=1`) {
			t.Errorf("%d: want %d lines: %s", verbosity, lines, got)
		}
	}
}

func TestExtenderLosesOneRequestByAPanic(t *testing.T) {
	handler := newExtender(t, configure(t, "algorithm: test-panics")).Handler()
	body := corpus.Names("", 3)
	for _, verb := range []string{"/filter", "/prioritize", "/filter"} {
		w := post(handler, verb, body)
		refused(t, verb, w.Code, w.Body.String(), w.Header().Get("Content-Type"), http.StatusInternalServerError, "algorithm test-panics panicked")
	}
	page := get(handler, "/metrics").Body.String()
	for _, want := range []string{
		`extender_panics_total{algorithm="test-panics"} 3`, `outcome="panic",verb="filter"} 2`,
		`extender_requests_in_flight 0`, `extender_buffered_bytes 0`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("%s is missing in the metrics", want)
		}
	}
}

func TestExtenderReportsAPanicInTheBackground(t *testing.T) {
	handler := newExtender(t, configure(t, "filter: test-panics-in-background")).Handler()
	testkit.EventuallyHolds(t, "/readyz to tell of the panic", func() bool {
		return strings.Contains(get(handler, "/readyz").Body.String(), "[-] test-panics-in-background: panicked in the background: in the background")
	})
	w := post(handler, "/filter", corpus.Names("", 3))
	if w.Code != http.StatusOK {
		t.Errorf("requests: %d %s", w.Code, w.Body)
	}
	page := get(handler, "/metrics").Body.String()
	if !strings.Contains(page, `extender_panics_total{algorithm="test-panics-in-background"} 1`) {
		t.Error("the panic is not counted")
	}
}

func TestExtenderReportsAnAlgorithmsErrorAsTheVerbDoes(t *testing.T) {
	for _, tt := range []struct {
		name, verb string
		status     int
		want       string
	}{
		{"test-fails", "/filter", http.StatusOK, "failed as configured"},
		{"test-fails", "/prioritize", http.StatusInternalServerError, "failed as configured"},
		{"test-answers-for-one", "/filter", http.StatusOK, "contract violation: algorithm test-answers-for-one answered for 1 of 3 nodes"},
		{"test-answers-for-one", "/prioritize", http.StatusInternalServerError, "contract violation: algorithm test-answers-for-one must give"},
		{"test-scores-too-high", "/prioritize", http.StatusInternalServerError, "each of 3 nodes a score from 0 to 10"},
		{"test-scores-too-low", "/prioritize", http.StatusInternalServerError, "each of 3 nodes a score from 0 to 10"},
	} {
		w := post(newExtender(t, configure(t, "algorithm: "+tt.name)).Handler(), tt.verb, corpus.Names("", 3))
		refused(t, tt.name+tt.verb, w.Code, w.Body.String(), w.Header().Get("Content-Type"), tt.status, tt.want)
	}
}

// Clients that send what is no request, again and again, do not fill the disk.
func TestExtenderLogsSomeOfTheRequestsThatItRejects(t *testing.T) {
	e, log := newLogging(t, 0)
	const requests = 5000
	began := time.Now()
	for range requests {
		w := post(e.Handler(), "/filter", []byte("{"))
		if w.Code != http.StatusBadRequest {
			t.Fatalf("status %d", w.Code)
		}
	}
	lines, most := strings.Count(log.String(), "Rejected"), 101+int(time.Since(began)/time.Second)
	if lines < 100 || lines > most {
		t.Errorf("%d requests are logged, want 100 to %d", lines, most)
	}
	text := get(e.Handler(), "/metrics").Body.String()
	if !strings.Contains(text, `outcome="bad_request",verb="filter"} 5000`) {
		t.Errorf("the metrics lack some: %s", text)
	}
}

// reachable is a listener on loopback whose address is not loopback.
type reachable struct{ net.Listener }

func (reachable) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero, Port: 8000} }

func TestExtenderWarnsOfAReachableAddressWithoutTLS(t *testing.T) {
	for _, outside := range []bool{false, true} {
		var log bytes.Buffer
		e, err := extender.New(extender.Options{Config: loadConfig(t, ""), Logger: extender.NewLogger(&log, extender.LogText, 0)})
		testkit.Must(t, err)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		testkit.Must(t, err)
		if outside {
			l = reachable{l}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		testkit.Must(t, e.Serve(ctx, l))
		got := strings.Contains(log.String(), "Warning: serving without TLS")
		if got != outside {
			t.Errorf("outside %v: warned %v: %s", outside, got, &log)
		}
	}
}

func TestExtenderNamesAnAlgorithmThatCannotBeMade(t *testing.T) {
	bad := configure(t, "algorithm: load\nalgorithms: {load: {config: {url: 'https://127.0.0.1:1', tls: {caFile: missing}}}}")
	_, err := extender.New(extender.Options{Config: bad, Logger: logr.Discard()})
	testkit.ErrorHas(t, err, "algorithms.load.config: tls.caFile")
}
