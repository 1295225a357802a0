package wasmhost

import (
	"os"
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
)

// TestTheGuideShowsAGuestThatRuns holds the source in docs/guests.md against the
// guest in testdata, and that against what the text says of it.
func TestTheGuideShowsAGuestThatRuns(t *testing.T) {
	guide, err := os.ReadFile("../docs/guests.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(guests + "not_gpu.wat")
	if err != nil {
		t.Fatal(err)
	}
	if shown := "    " + strings.ReplaceAll(strings.TrimSpace(string(source)), "\n", "\n    "); !strings.Contains(string(guide), shown) {
		t.Error("docs/guests.md does not show testdata/guests/not_gpu.wat as it is")
	}

	statuses := schedule(t.Context(), open(t, "not_gpu"), pod("web"), "gpu-1", "web-1", "gpu", "gpu-", "a-gpu-1", "")
	for i, rejected := range []bool{true, false, false, true, false, false} {
		switch status := statuses[i]; {
		case !rejected && !status.IsSuccess():
			t.Errorf("node %d: %v", i, status)
		case rejected && (status.Code() != fwk.UnschedulableAndUnresolvable || status.Message() != "node(s) were for GPUs only"):
			t.Errorf("node %d: %v %q", i, status.Code(), status.Message())
		}
	}
}
