package simulator

import (
	"slices"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
)

// A pattern that matches few names keeps the scheduler from looking at other
// nodes. Its pod must fare no worse for it.
func TestPodForFewNames(t *testing.T) {
	for _, variant := range []string{"v2", "native"} {
		t.Run(variant, func(t *testing.T) {
			use(t, variant)
			addNodes(t, "other", "kubecon-1")
			addPod(t, "present", `^kubecon-[12]$`)
			a := attempt(t, "present", recorder.Scheduled)
			if a.Node != "kubecon-1" {
				t.Errorf("the pod is on %s", a.Node)
			}
			hasExcluded(t, a, `node(s) didn't match the pod's node name regex "^kubecon-[12]$"`)
			addPod(t, "absent", `^cncf-[12]$`)
			a = attempt(t, "absent", recorder.Unschedulable)
			if !strings.HasPrefix(a.Message, `0/2 nodes are available: 2 node(s) didn't match the pod's node name regex "^cncf-[12]$". `) {
				t.Error(a.Message)
			}
			hasExcluded(t, a, `node(s) didn't match the pod's node name regex "^cncf-[12]$"`)
			addPodWith(t, "large", "^kubecon-1$", "100000")
			a = attempt(t, "large", recorder.Unschedulable)
			if !strings.HasPrefix(a.Message, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [") ||
				!strings.Contains(a.Message, `1 node(s) didn't match the pod's node name regex "^kubecon-1$"`) {
				t.Error(a.Message)
			}
			makeNodes(t, "cncf-2")
			a = attempt(t, "absent", recorder.Scheduled)
			if a.Node != "cncf-2" {
				t.Errorf("the pod is on %s", a.Node)
			}
		})
	}
}

// hasExcluded looks for the reason of the nodes that no Filter was asked about.
func hasExcluded(t *testing.T, a recorder.Attempt, reason string) {
	t.Helper()
	if !slices.ContainsFunc(a.Groups, func(g recorder.Group) bool {
		return g.Verdict == recorder.Excluded && g.Reason == reason && g.Column >= 0
	}) {
		t.Errorf("%s: no node is excluded with %s: %+v", a.Name, reason, a.Groups)
	}
}
