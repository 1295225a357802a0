package extender_test

import (
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
	testkit.Has(t, page,
		`extender_requests_total{algorithm="regex",outcome="ok",verb="filter"} 2`,
		`extender_requests_total{algorithm="regex",outcome="bad_request",verb="filter"} 1`,
		`extender_requests_total{algorithm="regex",outcome="ok",verb="prioritize"} 1`,
		`extender_requests_total{algorithm="regex",outcome="bad_request",verb="prioritize"} 1`,
		`extender_nodes_in_total{algorithm="regex",outcome="ok",verb="filter"} 20`,
		`extender_nodes_out_total{algorithm="regex",outcome="ok",verb="filter"} `+fmt.Sprint(2*passing),
		`extender_request_duration_seconds_count{algorithm="regex",outcome="ok",verb="filter"} 2`,
		`extender_algorithm_healthy{algorithm="regex"} 1`,
		"extender_requests_in_flight 0\n", "extender_buffered_bytes 0\n")
}

// TestExtenderReportsAMistypedVerb in the log, once in a while, and in the metrics.
func TestExtenderReportsAMistypedVerb(t *testing.T) {
	e, log := newLogging(t, 0)
	for range 5 {
		w := post(e.Handler(), "/prioritise%1b%5d0;x%07%0a%0dfake", corpus.Names("", 10))
		if w.Code != http.StatusNotFound || strings.ContainsAny(w.Body.String(), "\x1b\x07\r") {
			t.Errorf("%d %q", w.Code, w.Body)
		}
	}
	w := get(e.Handler(), "/filter")
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "the verbs are POST /filter, POST /preempt and POST /prioritize") {
		t.Errorf("GET: %d %s", w.Code, w.Body)
	}
	testkit.Has(t, get(e.Handler(), "/metrics").Body.String(), "extender_unknown_requests_total 6\n")
	testkit.Has(t, log.String(), "fix filterVerb, preemptVerb or prioritizeVerb")
	if strings.Count(log.String(), "/prioritise%1b%5d0;x%07%0a%0dfake") != 1 {
		t.Errorf("want one line about the path: %q", log.String())
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

func TestExtenderCountsPanicsAndKeepsNothingOfThem(t *testing.T) {
	handler := newExtender(t, configure(t, "filter: test-panics-in-background\nprioritize: test-panics")).Handler()
	for _, verb := range []string{"/prioritize", "/prioritize", "/filter"} {
		post(handler, verb, corpus.Names("", 3))
	}
	testkit.EventuallyHolds(t, "/readyz to report the panic in the background", func() bool {
		return strings.Contains(get(handler, "/readyz").Body.String(), "[-] test-panics-in-background: panicked in the background: in the background")
	})
	testkit.Has(t, get(handler, "/metrics").Body.String(),
		`extender_panics_total{algorithm="test-panics"} 2`, `algorithm="test-panics",outcome="panic",verb="prioritize"} 2`,
		`extender_panics_total{algorithm="test-panics-in-background"} 1`, `algorithm="test-panics-in-background",outcome="ok",verb="filter"} 1`,
		"extender_requests_in_flight 0\n", "extender_buffered_bytes 0\n")
}

// Clients that send invalid requests again and again do not fill the disk.
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
	lines, most := strings.Count(log.String(), "Rejected"), 11+int(time.Since(began)/(10*time.Second))
	if lines < 10 || lines > most {
		t.Errorf("%d requests are logged, want 10 to %d", lines, most)
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
		e, log := newLogging(t, 0)
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
			t.Errorf("outside %v: warned %v: %s", outside, got, log)
		}
	}
}

func TestExtenderNamesAnAlgorithmThatCannotBeMade(t *testing.T) {
	bad := configure(t, "algorithm: load\nalgorithms: {load: {config: {url: 'https://127.0.0.1:1', tls: {caFile: missing}}}}")
	_, err := extender.New(extender.Options{Config: bad, Logger: logr.Discard()})
	testkit.ErrorHas(t, err, "algorithms.load.config: tls.caFile")
}
