package wasmhost_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/compat/scenario"
	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestAnswersEqualTheUpstreamHosts holds every scenario against what the
// upstream host answered (compat/), but for the differences that are listed.
func TestAnswersEqualTheUpstreamHosts(t *testing.T) {
	root, err := filepath.Abs("..")
	testkit.Must(t, err)
	files, err := scenario.Files("../testdata/scenarios")
	testkit.Must(t, err)
	met := make([]bool, len(differences))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			scenarios, err := scenario.Read(file)
			testkit.Must(t, err)
			want, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".txt")
			testkit.Must(t, err)
			for _, difference := range scenario.Differences(string(want), scenario.Transcript(root, scenarios, startOurs(t))) {
				i := explained(difference)
				if i >= 0 {
					met[i] = true
				} else {
					t.Error(difference)
				}
			}
		})
	}
	for i, one := range differences {
		if !met[i] && !t.Failed() {
			t.Errorf("there is no such difference any more: %s", one.why)
		}
	}
}

// TestScenariosUseEveryExportAndHostFunction fails if a part of the ABI is held
// against nothing.
func TestScenariosUseEveryExportAndHostFunction(t *testing.T) {
	var unused []string
	for name := range abi.Exports {
		unused = append(unused, name)
	}
	for module, functions := range abi.Imports {
		for name := range functions {
			unused = append(unused, module+" "+name)
		}
	}
	// The start functions are no hooks, and the upstream host does not have the others.
	unused = slices.DeleteFunc(unused, func(name string) bool {
		return slices.Contains([]string{abi.ExportStart, abi.ExportInitialize, abi.ExportDecidesBy, abi.ExportSeesResources, abi.ModuleScheduler + " " + abi.ImportAllowWaitingPod}, name)
	})
	files, err := scenario.Files("../testdata/scenarios")
	testkit.Must(t, err)
	for _, file := range files {
		scenarios, err := scenario.Read(file)
		testkit.Must(t, err)
		for _, s := range scenarios {
			wasm, err := os.ReadFile(filepath.Join("..", s.Guest))
			testkit.Must(t, err)
			unused = slices.DeleteFunc(unused, func(name string) bool {
				module, function, imported := strings.Cut(name, " ")
				called := slices.ContainsFunc(s.Calls, func(call scenario.Call) bool { return call.Hook == name })
				return imported && has(wasm, module, function) || called && has(wasm, name)
			})
		}
	}
	if len(unused) > 0 {
		t.Errorf("no scenario uses %s", strings.Join(unused, ", "))
	}
}

// has reports whether a guest has these names beside each other, each after its length, as in its imports and exports.
func has(wasm []byte, names ...string) bool {
	text := ""
	for _, name := range names {
		text += string(rune(len(name))) + name
	}
	return bytes.Contains(wasm, []byte(text))
}
