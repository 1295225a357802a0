package wasmhost

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

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
	return openWith(t, "mirror", Args{GuestConfig: config}, h).(everyHook)
}

func aPod() *v1.Pod {
	p := pod("web")
	p.Namespace, p.Annotations = "default", map[string]string{"b": "2", "a": "1"}
	p.Spec.Containers = []v1.Container{{Name: "c", Image: "nginx"}}
	return p
}

func aHandle() *handle {
	h := snapshot.Of(
		&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"zone": "1"}}},
		&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
	)
	a := h.Nodes[0].(*framework.NodeInfo)
	a.ImageStates = map[string]*fwk.ImageStateSummary{"nginx": {Size: 42, NumNodes: 2, Nodes: sets.New("a")}}
	return &handle{Handle: h, waiting: "waiting"}
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

func podInfo(p *v1.Pod) fwk.PodInfo {
	info, err := framework.NewPodInfo(p)
	if err != nil {
		panic(err)
	}
	return info
}

func TestGuestTrapsOutsideOfItsMemory(t *testing.T) {
	for config, want := range map[string]string{
		"u": "wasm: prefilter error: node: out of the guest's memory: 1 bytes at 2147483647 (in k8s.io/api.node < $",
		"v": "wasm: prefilter error: the buffer: out of the guest's memory: 130 bytes at 2147483647 (in k8s.io/scheduler.currentPod < $",
	} {
		got := mirror(t, aHandle(), config).Filter(t.Context(), framework.NewCycleState(), aPod(), node("a"))
		if got.Code() != fwk.Error || !strings.HasPrefix(got.Message(), want) {
			t.Errorf("%s: got %v %q, want %q", config, got.Code(), got.Message(), want)
		}
	}
}

// The scenarios have the rest of what a guest may answer.
func TestNormalizedScoresNeedEachNode(t *testing.T) {
	for config, want := range map[string]string{
		`s{"b":30,"a":10}`:       "[{a 10} {b 30}] ",
		`w`:                      "[{a 1} {b 3}] ", // as they were
		`s{"b":30,"a":10,"c":1}`: "[{a 1} {b 3}] wasm: normalizescore returned 3 scores for 2 nodes",
		`s{"b":30,"other":10}`:   "[{a 1} {b 3}] wasm: normalizescore omitted node a",
	} {
		scores := fwk.NodeScoreList{{Name: "a", Score: 1}, {Name: "b", Score: 3}}
		status := mirror(t, aHandle(), config).ScoreExtensions().NormalizeScore(t.Context(), framework.NewCycleState(), aPod(), scores)
		got := fmt.Sprintf("%v %s", scores, status.Message())
		if got != want {
			t.Errorf("%s: got %s, want %s", config, got, want)
		}
	}
}

func TestGuestEndsTheWaitThatItBegan(t *testing.T) {
	h := aHandle()
	for uid, want := range map[types.UID]fwk.Code{"waiting": fwk.Success, "other": fwk.Unschedulable} {
		h.waiting = uid
		got := schedule(t.Context(), openWith(t, "filter_allow", Args{}, h), pod("web"), "n")[0]
		if got.Code() != want {
			t.Errorf("%s waits: %v, want %v", uid, got, want)
		}
	}
	if len(h.allowed) != 1 || h.allowed[0] != t.Name()+" waiting" {
		t.Errorf("allowed %q", h.allowed)
	}
}
