package page

import (
	"slices"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestNumbersInNamesAreOrderedAsNumbers(t *testing.T) {
	names := []string{"node-10", "node-9", "a", "node-09", "node-1b", "node-1", "b-2-10", "b-2-9"}
	slices.SortFunc(names, natural)
	want := []string{"a", "b-2-9", "b-2-10", "node-1", "node-1b", "node-09", "node-9", "node-10"}
	testkit.Equal(t, names, want, "the order")
}
