package api

import (
	"context"
	"fmt"
	"os"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/sides"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
)

// sim is there for all tests.
var sim *simulator.Simulator

func TestMain(m *testing.M) {
	sides.Main()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if sim, err = simulator.Start(context.Background(), simulator.Config{Door: "native"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := sim.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
