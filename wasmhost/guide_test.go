package wasmhost

import (
	"os"
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
)

// guideShows holds a source in docs/guests.md against the one in examples.
func guideShows(t *testing.T, file string) {
	t.Helper()
	guide, err := os.ReadFile("../docs/guests.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../examples/wat/" + file)
	if err != nil {
		t.Fatal(err)
	}
	shown := "    " + strings.ReplaceAll(strings.TrimSpace(string(source)), "\n", "\n    ")
	if !strings.Contains(string(guide), strings.ReplaceAll(shown, "\n    \n", "\n\n")) {
		t.Errorf("docs/guests.md does not show examples/wat/%s as it is", file)
	}
}

// TestTheGuideShowsGuestsThatRun holds what the text says of the first against what
// it does. The second does the same (TestAGuestInPlainGoDecides).
func TestTheGuideShowsGuestsThatRun(t *testing.T) {
	guideShows(t, "not_gpu.wat")
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
