package abi

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
)

// TestHostHasTheWholeABI compares what is called, linked and read with package guest/abi, of which docs/abi.md is made.
func TestHostHasTheWholeABI(t *testing.T) {
	called := append(slices.Clone(names[:]), abi.ExportStart, abi.ExportInitialize, abi.ExportDecidesBy, abi.ExportSeesResources)
	slices.Sort(called)
	exports := slices.Sorted(maps.Keys(abi.Exports))
	if !slices.Equal(called, exports) {
		t.Errorf("the host calls %q, and the ABI has %q", called, exports)
	}
	for module, functions := range abi.Imports {
		linked, imports := slices.Sorted(maps.Keys(hostFunctions[module])), slices.Sorted(maps.Keys(functions))
		if !slices.Equal(linked, imports) {
			t.Errorf("the host links %q of %s, and the ABI has %q", linked, module, imports)
		}
	}
	if len(hostFunctions) != len(abi.Imports) {
		t.Errorf("the host links %d modules, and the ABI has %d", len(hostFunctions), len(abi.Imports))
	}
	fields, err := parseFields(strings.Join(abi.Fields, "\x00") + "\x00")
	if err != nil || len(fields.Pod)+len(fields.Node) != len(abi.Fields) {
		t.Errorf("the ABI has the fields %q; of these the host reads %v (%v)", abi.Fields, fields, err)
	}
}
