package extender_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/logging"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

// elsewhere is a listener on loopback that claims to be reached from anywhere.
type elsewhere struct{ net.Listener }

func (elsewhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero, Port: 8000} }

func TestAnAddressThatOthersReachWithoutTLSEarnsAWarning(t *testing.T) {
	for _, outside := range []bool{false, true} {
		var log bytes.Buffer
		e, err := extender.New(extender.Options{Config: loadConfig(t, ""), Logger: logging.New(&log, logging.Text, new(logging.Levels))})
		must(t, err)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		if outside {
			l = elsewhere{l}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must(t, e.Serve(ctx, l))
		if got := strings.Contains(log.String(), "Warning: serving without TLS"); got != outside {
			t.Errorf("outside %v: warned %v: %s", outside, got, &log)
		}
	}
}

func TestAReloadIsAllOrNothing(t *testing.T) {
	e := newExtender(t, loadConfig(t, ""))
	body := corpus.Names("^$", 3)
	before := post(e.Handler(), "/filter", body).Body.String()

	bad := configure(t, "algorithm: load\nalgorithms: {load: {config: {url: 'https://127.0.0.1:1', tls: {caFile: missing}}}}")
	if err := e.Reload(bad); err == nil || !strings.Contains(err.Error(), "algorithms.load: tls.caFile") {
		t.Errorf("an algorithm that cannot be made: %v", err)
	}
	if after := post(e.Handler(), "/filter", body).Body.String(); after != before {
		t.Errorf("after a reload that failed: %s, before %s", after, before)
	}
	must(t, e.Reload(configure(t, "algorithm: nop")))
	if after := post(e.Handler(), "/filter", body).Body.String(); after == before {
		t.Errorf("after a reload: %s", after)
	}
	page := get(e.Handler(), "/metrics").Body.String()
	for _, want := range []string{`extender_reloads_total{result="refused",what="config"} 1`, `extender_reloads_total{result="success",what="config"} 1`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing in the metrics", want)
		}
	}
}

// TestAReloadKeepsFreshValues reloads while Prometheus answers nothing.
func TestAReloadKeepsFreshValues(t *testing.T) {
	answer := `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"node":"idle"},"value":[1,"0"]},{"metric":{"node":"busy"},"value":[1,"1"]}]}}`
	var silent atomic.Bool
	prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if silent.Load() {
			_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
			return
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer prometheus.Close()
	c := func(query, more string) *config.Config {
		return configure(t, fmt.Sprintf("algorithm: load\nalgorithms: {load: {config: {url: %q, query: %q, nodeLabel: node, interval: 1h, staleAfter: 2h%s}}}", prometheus.URL, query, more))
	}
	e := newExtender(t, c("busy", ""))
	handler := e.Handler()
	ready := func(line string) {
		t.Helper()
		eventually(t, "/readyz to say "+line, func() bool { return strings.Contains(get(handler, "/readyz").Body.String(), line) })
	}
	ready("[+] load: 2 nodes, ")
	silent.Store(true)
	for _, more := range []string{"", ", max: 2"} { // as of a hangup, and with another scale
		must(t, e.Reload(c("busy", more)))
		want := map[string]string{"": "idle=10 half=5 busy=0 unknown=5", ", max: 2": "idle=10 half=5 busy=5 unknown=5"}[more]
		if got := scores(t, handler); got != want {
			t.Errorf("after a reload with %q: %s, want %s", more, got, want)
		}
	}
	ready("[-] load: 2 nodes, ")
	ready("query busy: no series in the answer")
	if page := get(handler, "/metrics").Body.String(); !strings.Contains(page, `extender_algorithm_healthy{algorithm="load"} 0`) ||
		!strings.Contains(page, `extender_algorithm_status{algorithm="load",name="query_failures"} `) {
		t.Errorf("the metrics say that load is well")
	}
	must(t, e.Reload(c("other", "")))
	if got, want := scores(t, handler), "idle=5 half=5 busy=5 unknown=5"; got != want {
		t.Errorf("with another query: %s, want %s", got, want)
	}
}

// TestRequestsInFlightSurviveAReload changes the algorithm under a request.
func TestRequestsInFlightSurviveAReload(t *testing.T) {
	letGo := hold(t)
	e := newExtender(t, configure(t, "filter: [test-waits]"))
	answered := make(chan int)
	go func() { answered <- post(e.Handler(), "/filter", corpus.Names("", 3)).Code }()
	eventually(t, "a request to be on its way", func() bool { return waiting.Load() == 1 })
	must(t, e.Reload(configure(t, "filter: [nop]")))
	letGo()
	if status := <-answered; status != 200 {
		t.Errorf("status %d", status)
	}
}
