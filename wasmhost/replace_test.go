package wasmhost

import (
	"context"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// open starts a guest of testdata through a Host.
func open(t *testing.T, guest string) framework.Plugin {
	t.Helper()
	h := &Host{}
	t.Cleanup(func() { h.Close() })
	pl, err := h.open(t.Context(), t.Name(), Args{GuestURL: "file://" + guests + guest + ".wasm"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

// openUpstream starts a guest as upstream does.
func openUpstream(t *testing.T, guest string) framework.Plugin {
	t.Helper()
	pl, err := source{plugin: t.Name(), wasm: readGuest(t, guest)}.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pl.(io.Closer).Close() })
	return pl
}

func pod(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
}

func node(name string) *framework.NodeInfo {
	info := framework.NewNodeInfo()
	info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return info
}

// schedule runs a cycle of one pod over nodes and returns their statuses.
func schedule(ctx context.Context, pl framework.Plugin, p *v1.Pod, nodes ...string) []*framework.Status {
	state := framework.NewCycleState()
	_, _ = pl.(framework.PreFilterPlugin).PreFilter(ctx, state, p)
	var statuses []*framework.Status
	for _, name := range nodes {
		statuses = append(statuses, pl.(framework.FilterPlugin).Filter(ctx, state, p, node(name)))
	}
	return statuses
}

func codes(statuses []*framework.Status) (codes []framework.Code) {
	for _, status := range statuses {
		codes = append(codes, status.Code())
	}
	return codes
}

func TestAGuestThatTrappedIsReplacedBeforeTheNextPod(t *testing.T) {
	const ok, failed = framework.Success, framework.Error
	tests := []struct {
		name  string
		open  func(*testing.T, string) framework.Plugin
		after []framework.Code // of the pod after the one that hit the trap
		traps float64
	}{
		{"ours", open, []framework.Code{ok, ok}, 1},
		{"upstream keeps the broken guest", openUpstream, []framework.Code{failed, failed}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pl := tt.open(t, "trap_filter")
			if got := codes(schedule(t.Context(), pl, pod("before"), "a", "b")); !reflect.DeepEqual(got, []framework.Code{ok, ok}) {
				t.Errorf("before the trap: %v", got)
			}
			if got := codes(schedule(t.Context(), pl, pod("unlucky"), "a", "trap", "b")); !reflect.DeepEqual(got, []framework.Code{ok, failed, failed}) {
				t.Errorf("the cycle of the trap: %v", got)
			}
			if got := codes(schedule(t.Context(), pl, pod("after"), "a", "b")); !reflect.DeepEqual(got, tt.after) {
				t.Errorf("after the trap: %v, want %v", got, tt.after)
			}
			if got, _ := testutil.GetCounterMetricValue(traps.WithLabelValues(t.Name())); got != tt.traps {
				t.Errorf("%v traps counted, want %v", got, tt.traps)
			}
		})
	}
}

func TestThePodThatHitATrapIsRetriedWithANewGuest(t *testing.T) {
	pl := open(t, "trap_filter")
	schedule(t.Context(), pl, pod("unlucky"), "trap")
	if got := schedule(t.Context(), pl, pod("unlucky"), "a"); !got[0].IsSuccess() {
		t.Errorf("got %v", got[0])
	}
}

func TestEveryPreFilterAfterATrapGetsANewGuest(t *testing.T) {
	pl := open(t, "trap_prefilter").(framework.PreFilterPlugin)
	for i, want := range []framework.Code{framework.Success, framework.Error, framework.Success, framework.Error} {
		if _, got := pl.PreFilter(t.Context(), nil, pod("p")); got.Code() != want {
			t.Errorf("call %d: %v, want %v", i, got.Code(), want)
		}
	}
}

func TestATrapIsToldOnOneLine(t *testing.T) {
	pl := open(t, "trap_filter")
	got := schedule(t.Context(), pl, pod("unlucky"), "trap")[0].AsError()
	if want := "wasm: filter error: wasm error: unreachable"; message(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnErrorThatTheGuestAnswersIsNoTrap(t *testing.T) {
	pl := open(t, "error_filter")
	got := schedule(t.Context(), pl, pod("p"), "a")[0]
	if got.Code() != framework.Error || got.Message() != "no such luck" {
		t.Errorf("got %v %q", got.Code(), got.Message())
	}
	if n, _ := testutil.GetCounterMetricValue(traps.WithLabelValues(t.Name())); n != 0 {
		t.Errorf("%v traps counted", n)
	}
}

func TestATrapWhileScoresAreNormalizedIsAnErrorNotAPanic(t *testing.T) {
	pl := open(t, "trap_normalizescore")
	extensions := pl.(framework.ScorePlugin).ScoreExtensions()
	status := extensions.NormalizeScore(t.Context(), nil, pod("p"), framework.NodeScoreList{{Name: "a", Score: 1}})
	if status.Code() != framework.Error || !strings.HasPrefix(status.Message(), "wasm: normalizescore error") {
		t.Errorf("got %v", status)
	}
	if _, status := pl.(framework.ScorePlugin).Score(t.Context(), nil, pod("other"), "a"); !status.IsSuccess() {
		t.Errorf("the next pod: %v", status)
	}
}

func TestParallelCallsSurviveATrap(t *testing.T) {
	pl := open(t, "trap_filter")
	unlucky := pod("unlucky")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, name := range []string{"a", "trap", "b"} {
				pl.(framework.FilterPlugin).Filter(t.Context(), nil, unlucky, node(name))
			}
		})
	}
	wg.Wait()
	if got := schedule(t.Context(), pl, pod("after"), "a"); !got[0].IsSuccess() {
		t.Errorf("after the trap: %v", got[0])
	}
}

func TestAClosedGuestAnswersWithAnError(t *testing.T) {
	pl := open(t, "empty_filter")
	for range 2 {
		if err := pl.(io.Closer).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := schedule(t.Context(), pl, pod("p"), "a")[0]; got.AsError() != errClosed {
		t.Errorf("got %v", got)
	}
}

func TestThePluginHasTheInterfacesThatUpstreamGivesIt(t *testing.T) {
	for _, guest := range []string{
		"empty_filter", "trap_normalizescore", "filter_score", "trap_prefilter", "permit", "filter_permit", "score_permit", "every_hook",
	} {
		t.Run(guest, func(t *testing.T) {
			upstream := openUpstream(t, guest)
			want := interfaces(upstream)
			if hooksOf(upstream).takesPartInBinding() {
				want = append(want, "ReservePlugin", "PermitPlugin", "PreBindPlugin", "BindPlugin", "PostBindPlugin")
			}
			slices.Sort(want)
			want = slices.Compact(want)
			if got := interfaces(open(t, guest)); !slices.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

func interfaces(pl framework.Plugin) (names []string) {
	for _, i := range []reflect.Type{
		reflect.TypeFor[framework.PreEnqueuePlugin](), reflect.TypeFor[framework.QueueSortPlugin](),
		reflect.TypeFor[framework.EnqueueExtensions](), reflect.TypeFor[framework.PreFilterPlugin](),
		reflect.TypeFor[framework.FilterPlugin](), reflect.TypeFor[framework.PostFilterPlugin](),
		reflect.TypeFor[framework.PreScorePlugin](), reflect.TypeFor[framework.ScorePlugin](),
		reflect.TypeFor[framework.ReservePlugin](), reflect.TypeFor[framework.PermitPlugin](),
		reflect.TypeFor[framework.PreBindPlugin](), reflect.TypeFor[framework.BindPlugin](),
		reflect.TypeFor[framework.PostBindPlugin](), reflect.TypeFor[io.Closer](),
	} {
		if reflect.TypeOf(pl).Implements(i) {
			names = append(names, i.Name())
		}
	}
	slices.Sort(names)
	return names
}
