package extender_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
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
	testkit.Equal(t, strings.Count(log.String(), "/prioritise%1b%5d0;x%07%0a%0dfake"), 1, "lines about the path in %q", log.String())
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
	testkit.EventuallyHas(t, "/readyz to report the panic in the background", func() string { return get(handler, "/readyz").Body.String() },
		"[-] test-panics-in-background: panicked in the background: in the background")
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
	testkit.Has(t, get(e.Handler(), "/metrics").Body.String(), `outcome="bad_request",verb="filter"} 5000`)
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
		testkit.Equal(t, strings.Contains(log.String(), "Warning: serving without TLS"), outside, "outside %v: warned: %s", outside, log)
	}
}

func TestExtenderNamesAnAlgorithmThatCannotBeMade(t *testing.T) {
	bad := configure(t, "algorithm: load\nalgorithms: {load: {config: {url: 'https://127.0.0.1:1', tls: {caFile: missing}}}}")
	_, err := extender.New(extender.Options{Config: bad, Logger: logr.Discard()})
	testkit.ErrorHas(t, err, "algorithms.load.config: tls.caFile")
}

func TestLoggerHasVerbosityAndCallersInBothFormats(t *testing.T) {
	for format, line := range map[string]string{
		extender.LogText: `"Serving" address="127.0.0.1:1"`, extender.LogJSON: `"msg":"Serving","v":0,"address":"127.0.0.1:1"`,
	} {
		for verbosity, lines := range map[int]int{3: 2, 4: 3} {
			var out bytes.Buffer
			logger := extender.NewLogger(&out, format, verbosity)
			logger.Info("Serving", "address", "127.0.0.1:1")
			logger.V(4).Info("a debug")
			logger.Error(errors.New("broken"), "an error")
			got := out.String()
			if strings.Count(got, "server_test.go:") != lines || !strings.Contains(got, line) || !strings.Contains(got, "broken") {
				t.Errorf("%s at %d: %s", format, verbosity, got)
			}
		}
	}
}

// An extender logs the pod's name of any request.
func TestLogDoesNotControlTheTerminal(t *testing.T) {
	for _, format := range []string{extender.LogText, extender.LogJSON} {
		var out bytes.Buffer
		extender.NewLogger(&out, format, 0).Error(errors.New("a\x1b[2J\nI1128"), "Answered", "pod", "a\x1b[2J\nI1128")
		if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "\nI1128") {
			t.Errorf("%s: %q", format, out.String())
		}
	}
}

// serve serves on loopback until stop is called, and says then how that ended.
func serve(t *testing.T, text string, unready time.Duration) (r running, l net.Listener, stop context.CancelFunc, ended <-chan error) {
	t.Helper()
	c := configure(t, text)
	c.Timeouts.Unready.Duration = unready
	c.Timeouts.Drain.Duration = patience
	e, err := extender.New(extender.Options{Config: c, Logger: logr.Discard()})
	testkit.Must(t, err)
	l, err = net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, l) }()
	return running{&extender.Running{Extender: e, Address: l.Addr().String()}}, l, stop, served
}

// A Service sends as long as the extender is ready, and a little longer.
func TestExtenderAnswersAllRequestsUntilAServiceStopsSending(t *testing.T) {
	e, l, stop, ended := serve(t, "filter: regex", patience)
	isReady := func() bool {
		response, err := http.Get("http://" + e.Address + "/readyz")
		if err != nil {
			t.Error(err)
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	}
	var sent atomic.Int64
	var clients sync.WaitGroup
	body := corpus.Names("kubecon-.*", 500)
	for range 20 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
			defer client.CloseIdleConnections()
			for ready := true; ready; sent.Add(1) {
				ready = isReady()
				status, answer, err := e.send(client, "/filter", body)
				if err != nil || status != http.StatusOK {
					t.Errorf("request %d, ready: %v: %d %.100s %v", sent.Load(), ready, status, answer, err)
					return
				}
			}
		})
	}
	testkit.EventuallyHolds(t, "load", func() bool { return sent.Load() > 200 })
	stop()
	clients.Wait()
	response, err := http.Get("http://" + e.Address + "/readyz")
	testkit.Must(t, err)
	response.Body.Close()
	if response.StatusCode != http.StatusServiceUnavailable || !response.Close {
		t.Errorf("after the stop: status %d, the connection is closed: %v; want 503 and true", response.StatusCode, response.Close)
	}
	testkit.Must(t, l.Close())
	if err := testkit.EventuallyReceives(t, "the end", ended); err == nil {
		t.Error("its listener was closed, and it ended without an error")
	}
}

func TestExtenderAnswersTheRequestsInFlightAndRefusesOthersWhenItStops(t *testing.T) {
	letGo := hold(t)
	e, _, stop, ended := serve(t, "filter: test-waits", 0)
	var clients sync.WaitGroup
	for range 5 {
		clients.Go(func() {
			status, answer, err := e.send(&http.Client{Timeout: patience}, "/filter", corpus.Names("", 10))
			if err != nil || status != http.StatusOK {
				t.Errorf("a request in flight: %d %.100s %v", status, answer, err)
			}
		})
	}
	testkit.EventuallyHolds(t, "the requests to arrive", func() bool { return waiting.Load() == 5 })
	stop()
	testkit.EventuallyHolds(t, "connections to be refused", func() bool {
		c, err := net.Dial("tcp", e.Address)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	select {
	case err := <-ended:
		t.Errorf("serving ended with requests in flight: %v", err)
	default:
	}
	letGo()
	clients.Wait()
	testkit.Must(t, testkit.EventuallyReceives(t, "the end", ended))
}

func TestExtenderCutsOffRequestsAfterTheDrain(t *testing.T) {
	letGo := hold(t)
	defer letGo()
	e := start(t, configure(t, "filter: test-waits\ntimeouts: {drain: 1ms}"))
	go func() { _, _, _ = e.send(http.DefaultClient, "/filter", corpus.Names("", 1)) }()
	testkit.EventuallyHolds(t, "a request to arrive", func() bool { return waiting.Load() == 1 })
	err := e.Stop()
	testkit.ErrorHas(t, err, "1 requests were cut off: they took longer than timeouts.drain, 1ms")
}
