// Package testsim has the tests of a package share a simulator.
package testsim

import (
	"context"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// Main is a TestMain whose tests find a simulator in sim.
func Main(m *testing.M, sim **simulator.Simulator, config simulator.Config) {
	testkit.Main(m, func(ctx context.Context) (stop func() error, err error) {
		*sim, err = simulator.Start(ctx, config)
		return (*sim).Stop, err
	})
}
