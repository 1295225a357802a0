package wasmhost

import (
	"cmp"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

const guests = "../testdata/guests/"

// mirrorGuest is a guest of the transcripts.
const mirrorGuest = "../../abi/mirror"

// fromFiles has a Host read guests from files.
var fromFiles = Options{Fetch: func(_ context.Context, args Args) ([]byte, error) {
	return os.ReadFile(strings.TrimPrefix(args.GuestURL, "file://"))
}}

func TestEveryGuestIsBuiltFromTheSourceBesideIt(t *testing.T) {
	testkit.CheckGuests(t, guests)
	testkit.CheckGuests(t, "../abi")
}

// open starts a guest of testdata through a Host.
func open(t *testing.T, guest string) fwk.Plugin { return openWith(t, guest, Args{}, nil) }

// openCounted is openWith of a plugin whose series begin at zero, though the test
// has run in this process before.
func openCounted(t *testing.T, guest string, args Args) fwk.Plugin {
	t.Helper()
	for _, series := range []interface{ Reset() }{callSeconds, instances, guestMemory, traps} {
		series.Reset()
	}
	return openWith(t, guest, args, nil)
}

// openWith starts a guest of the tests. A test that says no callTimeout is not about it,
// and a busy machine may take longer for a call than the default.
func openWith(t *testing.T, guest string, args Args, handle fwk.Handle) fwk.Plugin {
	t.Helper()
	h := New(fromFiles)
	t.Cleanup(func() { h.Close() })
	args.CallTimeout.Duration = cmp.Or(args.CallTimeout.Duration, time.Minute)
	args.GuestURL = "file://" + guests + guest + ".wasm"
	pl, err := h.open(t.Context(), t.Name(), args, handle)
	testkit.Must(t, err)
	return pl
}

// startError starts a guest with args, ends it, and returns the error of the start.
func startError(t *testing.T, args Args) error {
	t.Helper()
	h := New(fromFiles)
	_, err := h.Start(t.Context(), "Wasm", args)
	testkit.Must(t, h.Close())
	return err
}

func pod(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
}

func node(name string) fwk.NodeInfo {
	info := framework.NewNodeInfo()
	info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return info
}

// schedule runs a cycle of one pod over nodes and returns their statuses.
func schedule(ctx context.Context, pl fwk.Plugin, p *v1.Pod, nodes ...string) []*fwk.Status {
	state := framework.NewCycleState()
	_, _ = preFilter(ctx, pl, state, p)
	var statuses []*fwk.Status
	for _, name := range nodes {
		statuses = append(statuses, pl.(fwk.FilterPlugin).Filter(ctx, state, p, node(name)))
	}
	return statuses
}

func preFilter(ctx context.Context, pl fwk.Plugin, state fwk.CycleState, p *v1.Pod) (*fwk.PreFilterResult, *fwk.Status) {
	return pl.(fwk.PreFilterPlugin).PreFilter(ctx, state, p, nil)
}

func codes(statuses []*fwk.Status) (codes []fwk.Code) {
	for _, status := range statuses {
		codes = append(codes, status.Code())
	}
	return codes
}

// open starts a guest and makes a plugin of it.
func (h *Host) open(ctx context.Context, name string, args Args, handle fwk.Handle) (fwk.Plugin, error) {
	started, err := h.Start(ctx, name, args)
	if err != nil {
		return nil, err
	}
	return started.Plugin(ctx, handle), nil
}
