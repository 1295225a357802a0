package command

import (
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
)

// packable has two nodes, the first of which is fuller, and a pod for one of them.
const packable = `
nodes:
- metadata: {name: node-1}
  status: {allocatable: &room {cpu: "4", memory: 8Gi, pods: "10"}, capacity: *room}
- metadata: {name: node-2}
  status: {allocatable: *room, capacity: *room}
pods:
- {metadata: {name: there, namespace: default}, spec: {nodeName: node-1, containers: [{name: c, image: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]}}
- {metadata: {name: web, namespace: default}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]}}
`

func TestPresetsPackNodesOrSpreadPods(t *testing.T) {
	cluster := writeFile(t, t.TempDir(), "cluster.yaml", packable)
	for _, b := range simulator.Presets {
		status, out, errOut := here(t, "compare", "--cluster", cluster, "--a", "eks", "--b", b, "--details")
		want := `\nNODE `
		if strings.HasSuffix(b, ":MostAllocated") || strings.HasSuffix(b, "Ratio") {
			want = `\ndefault/web +moved +node-2 +node-1 +.*NodeResourcesFit`
		}
		moved := strings.Contains(out, "default/web")
		if status != 0 || moved == (want == `\nNODE `) || moved && !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s: want %s, got status %d: %s %s", b, want, status, out, errOut)
		}
	}
}
