package command

import (
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/extenders"
)

// Every what-if asks the extender of the configuration, has it bind nothing, and says so.
func TestWhatIfSendsNoBindToAnExtender(t *testing.T) {
	dir := t.TempDir()
	cluster := writeFile(t, dir, "cluster.yaml", string(testkit.ReadFile(t, drainable))+
		"- {metadata: {name: pending, namespace: default}, spec: {containers: [{name: c, image: c}]}}\n")
	manifest := writeFile(t, dir, "pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: new}\nspec: {containers: [{name: c, image: c}]}\n")
	result := filepath.Join(dir, "side.json")
	for command, args := range map[string]string{
		"fit":     "-f " + manifest + " --config CONFIG",
		"drain":   "node-1 --config CONFIG",
		"shrink":  "--config CONFIG",
		"why":     "pending --config CONFIG",
		"compare": "--a none --b CONFIG --pods all",
		"side":    "--config CONFIG --pods all --to " + result,
	} {
		t.Run(command, func(t *testing.T) {
			extender := extenders.Start(t, "filter", "prioritize", "preempt")
			config := writeFile(t, t.TempDir(), "config.yaml", extender.Config(""))
			args := strings.Fields(command + " --cluster " + cluster + " " + strings.Replace(args, "CONFIG", config, 1))
			status, out, errOut := here(t, args...)
			if status == statusNone || extender.Asked("filter") == 0 {
				t.Fatalf("status %d after %d requests: %s %s", status, extender.Asked("filter"), out, errOut)
			}
			want := "bind by extender " + extender.URL
			if !strings.Contains(out, want) && command != "side" {
				t.Errorf("got %s, want %q", out, want)
			}
		})
	}
}
