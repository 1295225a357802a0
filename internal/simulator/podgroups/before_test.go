//go:build !kubernetes_1_37 && !kubernetes_1_38

package podgroups

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
)

func TestOlderKubernetesSaysWhichOneHasPodGroups(t *testing.T) {
	err := (&simulator.Config{PodGroups: true}).Check()
	want := "--pod-groups: that needs Kubernetes 1.37: make bin/simulator-1.37"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
