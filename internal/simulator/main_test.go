package simulator

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// sim is there for all tests; each leaves it as it was.
var sim *Simulator

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	if sim, err = Start(context.Background(), Config{Variant: "native", Warnings: &console}); err != nil {
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
