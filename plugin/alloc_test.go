//go:build !race

package plugin

import (
	"testing"

	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// The race detector allocates on its own account.
func TestFilterOfANodeThatQualifiesAllocatesNothing(t *testing.T) {
	pl, state, p := newPlugin(t, ""), schedframework.NewCycleState(), pod(regex.Annotation, "kubecon-.*")
	_, status := pl.PreFilter(t.Context(), state, p, nil)
	testkit.Succeeds(t, status)
	yes, no := node("kubecon-1"), node("other")
	allocs := func(n framework.NodeInfo) float64 {
		return testing.AllocsPerRun(100, func() { pl.Filter(t.Context(), state, p, n) })
	}
	got := allocs(yes)
	testkit.Equal(t, got, 0, "allocations of a match")
	got = allocs(no)
	if got > 1 {
		t.Errorf("a mismatch allocates %v times, want its status only", got)
	}
}
