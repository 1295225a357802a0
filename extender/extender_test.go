package extender_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

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
	if err == nil || !strings.Contains(err.Error(), "algorithms.load.config: tls.caFile") {
		t.Errorf("got %v", err)
	}
}
