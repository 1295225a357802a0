package bench

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// BenchmarkNaming finds the share of the nodes up to which it pays to name them to the
// scheduler in PreFilter, rather than to filter all nodes. One variant names the nodes on
// which pods may run, the other does not. internal/naming has the result.
func BenchmarkNaming(b *testing.B) {
	var all []turns
	for _, share := range []float64{0.3, 0.5, 0.6, 0.7, 0.8, 0.9} {
		plain := func(*variant) []*v1.Pod { return podsLike(&kase{plain: true}) }
		all = append(all, turns{fmt.Sprint(share), []*variant{shareVariant("named", share, true), shareVariant("looked-at", share, false)}, plain})
	}
	inWholeClusters(b, all)
}

func shareVariant(name string, share float64, naming bool) *variant {
	return ofPlugin(name, shareName, func(_ context.Context, _ runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
		return &shareOf{share: share, naming: naming}, nil
	})
}

const shareName = "Share"

// shareOf lets every pod run on a share of the nodes.
type shareOf struct {
	share  float64
	naming bool
	result *fwk.PreFilterResult // nil: not known yet
}

// Name implements fwk.Plugin.
func (*shareOf) Name() string { return shareName }

// PreFilter implements fwk.PreFilterPlugin. It finds the nodes that pass once, as the host
// and the native plugin do: they are the same in each cycle.
func (s *shareOf) PreFilter(_ context.Context, _ fwk.CycleState, _ *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if s.result == nil {
		names := sets.New[string]()
		for i, node := range nodes { // evenly, from all zones
			if int(float64(i+1)*s.share) > int(float64(i)*s.share) {
				names.Insert(node.Node().Name)
			}
		}
		s.result = &fwk.PreFilterResult{NodeNames: names}
	}
	if s.naming {
		return s.result, nil
	}
	return nil, nil
}

// PreFilterExtensions implements fwk.PreFilterPlugin.
func (*shareOf) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter implements fwk.FilterPlugin.
func (s *shareOf) Filter(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if s.result.NodeNames.Has(node.Node().Name) {
		return nil
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) are not of the share")
}
