package wasmhost_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"wasmkwokwizardry.io/regex-scheduling/compat/scenario"
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
	unused := strings.Fields(`
		enqueue prefilter addpod removepod filter postfilter prescore score normalizescore
		reserve unreserve permit prebind bind postbind
		k8s.io/api.node k8s.io/api.nodeList k8s.io/klog.log k8s.io/klog.logs k8s.io/klog.severity`)
	for _, name := range strings.Fields(`get_config currentPod targetPod currentNodeName filteredNodeList
		nodeToStatusMap nodeScoreList nodeImageStates result.cluster_events result.node_names
		result.nominated_node_name result.status_reason result.normalized_score_list
		handle.eventrecorder.eventf handle.reject_waiting_pod handle.get_waiting_pod`) {
		unused = append(unused, "k8s.io/scheduler."+name)
	}
	files, err := scenario.Files("../testdata/scenarios")
	testkit.Must(t, err)
	for _, file := range files {
		scenarios, err := scenario.Read(file)
		testkit.Must(t, err)
		for _, s := range scenarios {
			used := usedBy(t, s)
			unused = slices.DeleteFunc(unused, func(name string) bool { return used[name] })
		}
	}
	if len(unused) > 0 {
		t.Errorf("no scenario uses %s", strings.Join(unused, ", "))
	}
}

// usedBy tells the hooks that a scenario calls and its guest has, and the functions
// that the guest imports.
func usedBy(t *testing.T, s scenario.Scenario) map[string]bool {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("..", s.Guest))
	testkit.Must(t, err)
	ctx := context.Background()
	engine := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer engine.Close(ctx)
	guest, err := engine.CompileModule(ctx, wasm)
	if err != nil {
		t.Fatalf("%s: %v", s.Guest, err)
	}
	used := map[string]bool{}
	for _, function := range guest.ImportedFunctions() {
		module, name, _ := function.Import()
		used[module+"."+name] = true
	}
	for _, call := range s.Calls {
		used[call.Hook] = guest.ExportedFunctions()[call.Hook] != nil
	}
	return used
}
