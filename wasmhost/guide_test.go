package wasmhost

import (
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
)

// TestSmallestGuestRejectsNodesByName runs the guest that docs/guests.md calls the
// smallest. The one in plain Go does the same (TestGuestInPlainGoDecides).
func TestSmallestGuestRejectsNodesByName(t *testing.T) {
	statuses := schedule(t.Context(), open(t, "../../examples/wat/not_gpu"), pod("web"), "gpu-1", "web-1", "gpu", "gpu-", "a-gpu-1", "")
	for i, rejected := range []bool{true, false, false, true, false, false} {
		switch status := statuses[i]; {
		case !rejected && !status.IsSuccess():
			t.Errorf("node %d: %v", i, status)
		case rejected && (status.Code() != fwk.UnschedulableAndUnresolvable || status.Message() != "node(s) were for GPUs only"):
			t.Errorf("node %d: %v %q", i, status.Code(), status.Message())
		}
	}
}
