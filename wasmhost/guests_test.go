package wasmhost

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
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
	return startErrorOf(t, fromFiles, args)
}

func startErrorOf(t *testing.T, options Options, args Args) error {
	t.Helper()
	h := New(options)
	_, err := h.Start(t.Context(), "Wasm", args)
	testkit.Must(t, h.Close())
	return err
}

func pod(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
}

func node(name string) fwk.NodeInfo { return snapshot.Of(nodesNamed(name)...).Nodes[0] }

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

// score is a node's score, where there is one.
func score(t *testing.T, pl fwk.Plugin, state fwk.CycleState, p *v1.Pod, node fwk.NodeInfo) int64 {
	t.Helper()
	score, status := pl.(fwk.ScorePlugin).Score(t.Context(), state, p, node)
	testkit.Succeeds(t, status)
	return score
}

// counted is what a counter of this test's plugin says.
func counted(t *testing.T, counter *metrics.CounterVec, labels ...string) int {
	t.Helper()
	n, err := testutil.GetCounterMetricValue(counter.WithLabelValues(append([]string{t.Name()}, labels...)...))
	testkit.Must(t, err)
	return int(n)
}

// gauge is what a gauge of this test's plugin says.
func gauge(t *testing.T, gauge *metrics.GaugeVec) int {
	t.Helper()
	n, err := testutil.GetGaugeMetricValue(gauge.WithLabelValues(t.Name()))
	testkit.Must(t, err)
	return int(n)
}

// said is a status with its code.
func said(status *fwk.Status) string { return status.Code().String() + ": " + status.Message() }

// open starts a guest and makes a plugin of it.
func (h *Host) open(ctx context.Context, name string, args Args, handle fwk.Handle) (fwk.Plugin, error) {
	started, err := h.Start(ctx, name, args)
	if err != nil {
		return nil, err
	}
	return started.Plugin(ctx, handle), nil
}

// handle is as much of the scheduler as a guest may ask for, or act on.
type handle struct {
	*snapshot.Handle
	waiting []*v1.Pod // that Permit delays

	mu      sync.Mutex
	effects []string // what the guest has done
}

func (h *handle) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.effects = append(h.effects, fmt.Sprintf(format, args...))
}

// take returns what the guest has done since the last call.
func (h *handle) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	effects := h.effects
	h.effects = nil
	return effects
}

func (h *handle) GetWaitingPod(uid types.UID) fwk.WaitingPod {
	i := slices.IndexFunc(h.waiting, func(pod *v1.Pod) bool { return pod.UID == uid })
	if i < 0 {
		return nil
	}
	return waitingPod{pod: h.waiting[i], handle: h}
}

func (h *handle) RejectWaitingPod(uid types.UID) bool {
	waits := h.GetWaitingPod(uid) != nil
	if waits {
		h.note("reject %s", uid)
	}
	return waits
}

func (h *handle) EventRecorder() minor.EventRecorder { return recorder{handle: h} }

type waitingPod struct {
	fwk.WaitingPod
	pod    *v1.Pod
	handle *handle
}

func (w waitingPod) Allow(plugin string) { w.handle.note("allow %s of %s", w.pod.UID, plugin) }
func (w waitingPod) GetPod() *v1.Pod     { return w.pod }

type recorder struct{ handle *handle }

func (r recorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

func (r recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	r.handle.note("event %s %s %s: %s, of %s, %s", kind, reason, action, fmt.Sprintf(note, args...), named(regarding), named(related))
}

func named(object runtime.Object) string {
	is, _ := object.(*v1.ObjectReference)
	if is == nil {
		return ""
	}
	return fmt.Sprintf("%s/%s/%s/%s/%s/%s", is.APIVersion, is.Kind, is.Namespace, is.Name, is.UID, is.ResourceVersion)
}

// everyHook is a plugin whose guest has every hook. These are the ones that tests call.
type everyHook interface {
	fwk.EnqueueExtensions
	fwk.PreFilterPlugin
	fwk.FilterPlugin
	fwk.ScorePlugin
	fwk.PermitPlugin
	fwk.PreBindPlugin
}

// mirror starts the guest that tells what a host function writes, by its letter.
func mirror(t *testing.T, h *handle, config string) everyHook {
	return openWith(t, mirrorGuest, Args{GuestConfig: config}, h).(everyHook)
}

func aHandle() *handle {
	h := snapshot.Of(
		&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"zone": "1"}}},
		&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
	)
	a := h.Nodes[0].(*framework.NodeInfo)
	a.ImageStates = map[string]*fwk.ImageStateSummary{"nginx": {Size: 42, NumNodes: 2, Nodes: sets.New("a")}}
	return &handle{Handle: h, waiting: []*v1.Pod{pod("waiting")}}
}

// reflected is what a mirror tells.
func reflected(status *fwk.Status) string {
	text, err := hex.DecodeString(status.Message())
	if err != nil {
		return status.Message() // in the host's own words
	}
	return string(text)
}

func marshalled(m interface{ Marshal() ([]byte, error) }) string {
	b, err := m.Marshal()
	if err != nil {
		panic(err)
	}
	return string(b)
}
