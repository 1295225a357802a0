package wasmhost

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// A tenant's pods can make each instance grow, until they hold all that the guest may hold.
func TestPodsThatNeedMuchMemoryCostOthersNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	pl := openWith(t, "hoards", Args{FailurePolicy: FailurePolicyIgnore}, nil)
	filtered := func(p *v1.Pod) (rejected int) {
		state := framework.NewCycleState()
		preFilter(t.Context(), pl, state, p)
		var all sync.WaitGroup
		statuses := make([]*fwk.Status, 16)
		for i := range statuses {
			all.Go(func() { statuses[i] = pl.(fwk.FilterPlugin).Filter(t.Context(), state, p, node(fmt.Sprint("n", i))) })
		}
		all.Wait()
		for _, status := range statuses {
			if status.Code() == fwk.Unschedulable {
				rejected++
			}
		}
		return rejected
	}
	for _, size := range []int{260_000, 130_000, 65_000, 32_000, 16_000, 8000, 4000} {
		for range 3 {
			large := pod("large")
			large.Annotations = map[string]string{"note": strings.Repeat("x", size)}
			filtered(large)
		}
	}
	for range 5 {
		if rejected := filtered(pod("small")); rejected != 16 {
			t.Errorf("%d of 16 nodes are rejected", rejected)
		}
	}
}
