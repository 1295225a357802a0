// Package testsim has the tests of a package share a simulator.
package testsim

import (
	"context"
	"fmt"
	"os"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
)

// Main is a TestMain whose tests find a simulator in sim.
func Main(m *testing.M, sim **simulator.Simulator, config simulator.Config) {
	var err error
	if *sim, err = simulator.Start(context.Background(), config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := (*sim).Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
