package extender_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/corpus"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/logging"
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
