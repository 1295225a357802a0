package wasmhost

import (
	"encoding/hex"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

func podInfo(p *v1.Pod) fwk.PodInfo {
	info, err := framework.NewPodInfo(p)
	if err != nil {
		panic(err)
	}
	return info
}
