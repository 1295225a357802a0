package compare_test

import (
	"os"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/simulator/internal/testsim"
)

// TestMain has the test binary be the process of a side.
func TestMain(m *testing.M) {
	testsim.Side()
	os.Exit(m.Run())
}
