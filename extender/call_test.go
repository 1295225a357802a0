package extender

import (
	"io"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/internal/wire"
)

// Nodes come in thousands.
func TestExtenderAllocatesNothingForLinesBelowItsVerbosity(t *testing.T) {
	c := &call{
		Extender: &Extender{Options: Options{Logger: NewLogger(io.Discard, LogText, 4)}},
		request:  &wire.Request{Args: algorithm.Args{Names: make([]string, 100)}},
	}
	scores, failures := make([]int64, 100), make([]*algorithm.Failure, 100)
	got := testing.AllocsPerRun(100, func() { c.logNodes(failures, scores) })
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}
