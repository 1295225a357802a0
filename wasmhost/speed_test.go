package wasmhost

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// openStatic starts a guest of static/, and with it a cycle of a pod whose regex
// half of the nodes match.
func openStatic(tb testing.TB, file string, args Args) (pl fwk.FilterPlugin, p *v1.Pod, nodes []fwk.NodeInfo) {
	tb.Helper()
	h := New(fromFiles)
	tb.Cleanup(func() { h.Close() })
	args.GuestURL = "file://../static/" + file
	opened, err := h.open(tb.Context(), "Wasm", args, nil)
	testkit.Must(tb, err)
	for i := range 1000 {
		nodes = append(nodes, node(fmt.Sprintf("ip-10-%d-97-%d.eu-west-%d.compute", i%7, i, i%2)))
	}
	p = pod("web")
	p.Annotations = map[string]string{"scheduler.wasmkwokwizardry.io/regex": "eu-west-1"}
	return opened.(fwk.FilterPlugin), p, nodes
}

func TestFilterMakesNothingButTheStatusOfARejection(t *testing.T) {
	for _, file := range []string{"regex_v1.wasm", "regex_v2.wasm"} {
		pl, p, nodes := openStatic(t, file, Args{CallTimeout: NoCallTimeout}) // wazero makes something for calls that can be interrupted
		state := framework.NewCycleState()
		preFilter(t.Context(), pl, state, p)
		for i, most := range []float64{1, 0} { // the odd nodes match
			testkit.Equal(t, pl.Filter(t.Context(), state, p, nodes[i]).IsSuccess(), i == 1, "%s: node %d", file, i)
			n := testing.AllocsPerRun(1000, func() { pl.Filter(t.Context(), state, p, nodes[i]) })
			if n > most {
				t.Errorf("%s: %v allocations for node %d, at most %v allowed", file, n, i, most)
			}
		}
	}
}
