package api

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/testsim"
)

// sim is there for all tests.
var sim *simulator.Simulator

func TestMain(m *testing.M) { testsim.Main(m, &sim, simulator.Config{Variant: "native"}) }
