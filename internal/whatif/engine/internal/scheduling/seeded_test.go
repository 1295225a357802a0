package scheduling

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// TestNodesAreRankedInTheOrderOfTheSeed is about nodes that PreFilter has named, which come from a set.
func TestNodesAreRankedInTheOrderOfTheSeed(t *testing.T) {
	s := &seeded{first: 2, limited: true}
	for _, name := range []string{"a", "b", "c", "d"} {
		info := framework.NewNodeInfo()
		info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		s.nodes = append(s.nodes, info)
	}
	nodes := []fwk.NodeInfo{s.nodes[1], s.nodes[3], s.nodes[2]}
	after := s.rank(nil, nodes)
	if !slices.Equal(nodes, []fwk.NodeInfo{s.nodes[2], s.nodes[3], s.nodes[1]}) {
		t.Errorf("from c on, the order is %s, %s, %s", nodes[0].Node().Name, nodes[1].Node().Name, nodes[2].Node().Name)
	}
	after(false)
	if !s.limited {
		t.Error("no plugin has ranked them, and they are filtered as they come from the set")
	}
	after(true)
	if s.limited {
		t.Error("plugins have ranked them, and they are not filtered by their ranks")
	}
}
