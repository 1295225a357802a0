package wasmhost

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

func TestGuestThatCanDecideNothingDoesNotStart(t *testing.T) {
	for guest, want := range map[string]string{
		"start_exit": "failed to create a guest pool: wasm: _start error: module closed with exit_code(0): the guest is built as a program, " +
			"which ends with its main; build it with -buildmode=c-shared (Go) or -buildmode=wasi-legacy (TinyGo)",
		"main_not_run": "wasm: none of the guest's functions decides anything: it is built as a library, whose main is not run; " +
			"register the plugin in init, or build it with -buildmode=wasi-legacy (TinyGo)",
	} {
		err := startError(t, Args{GuestURL: fileURLOf(guest)})
		if message(err) != "plugin Wasm: guest "+fileURLOf(guest)+": "+want {
			t.Errorf("%s: got\n%v\nwant\n%s", guest, err, want)
		}
	}
}

// buildGo compiles a guest that is written in plain Go.
func buildGo(t *testing.T, folder string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "guest.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", file, ".")
	build.Dir = folder
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

func TestGuestReadsNodesByName(t *testing.T) {
	fast := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"fast": ""}}}
	h := snapshot.Of(append(nodesNamed("b", "c"), fast)...)
	host := New(Options{})
	t.Cleanup(func() { host.Close() })
	pl, err := host.open(t.Context(), t.Name(), Args{GuestURL: "file://" + buildGo(t, guests+"by_label")}, h)
	testkit.Must(t, err)
	state, p := framework.NewCycleState(), pod("web")
	if _, status := preFilter(t.Context(), pl, state, p); !status.IsSuccess() {
		t.Fatal(status)
	}
	for n, skips := range map[int]bool{2: true, 3: false} {
		status := pl.(fwk.PreScorePlugin).PreScore(t.Context(), state, p, h.Nodes[:n])
		if status.IsSkip() != skips {
			t.Errorf("the first %d nodes passed: %v", n, status)
		}
	}
	statuses := framework.NewDefaultNodeToStatus()
	for _, node := range h.Nodes {
		statuses.Set(node.Node().Name, fwk.NewStatus(fwk.Unschedulable))
	}
	result, status := pl.(fwk.PostFilterPlugin).PostFilter(t.Context(), state, p, statuses)
	if !status.IsSuccess() || result.NominatedNodeName != "a" {
		t.Errorf("nominated %+v, %v", result, status)
	}
}
