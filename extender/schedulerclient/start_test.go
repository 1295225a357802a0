// Package schedulerclient has only tests: of the extender with the client that
// kube-scheduler itself uses. They are apart because they build much of
// Kubernetes, and fuzz targets beside them would instrument all of it.
package schedulerclient_test

import (
	"testing"
	"time"

	"github.com/go-logr/logr"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/extender/config"
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
	c.TLS = tls
	must(t, c.Complete())
	e, err := extender.Start(extender.Options{Config: c, Logger: logr.Discard()})
	must(t, err)
	t.Cleanup(func() { must(t, e.Stop()) })
	return e.Address
}
