package schedulerclient_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
)

const patience = time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start serves an extender until the test ends and returns its address.
func start(t *testing.T, tls config.TLS) string {
	t.Helper()
	c := config.Default()
	c.TLS, c.Timeouts.Unready.Duration = tls, 0
	must(t, c.Complete())
	e, err := extender.New(extender.Options{Config: c, Logger: logr.Discard(), Version: "test"})
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
	return l.Addr().String()
}
