// Package testsim has the tests of a package share a simulator, and lets their binary be
// the process of a side of a comparison.
package testsim

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/side"
)

// Main is a TestMain whose tests find a simulator in sim.
func Main(m *testing.M, sim **simulator.Simulator, config simulator.Config) {
	Side()
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

// Side is for the beginning of a TestMain. It does not return where a comparison has
// started the binary.
func Side() {
	if len(os.Args) < 2 || os.Args[1] != side.CommandName {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cmd := side.NewCommand(nil)
	cmd.SetArgs(os.Args[2:])
	cmd.SetOut(os.Stdout)
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}
