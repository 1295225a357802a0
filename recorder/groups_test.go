package recorder

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

func TestANodeKeepsItsPlace(t *testing.T) {
	list := func(names ...string) (list []framework.NodeInfo) {
		for _, name := range names {
			info := schedframework.NewNodeInfo()
			info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
			list = append(list, info)
		}
		return list
	}
	var n nodes
	n.follow(list("a", "b", "c"))
	before := nodeSet{n.names, places{0, -1}}
	now := list("d", "c", "b")
	n.follow(now)
	if !slices.Equal(n.places, []int32{3, 2, 1}) || !slices.Equal(n.names, []string{"a", "b", "c", "d"}) {
		t.Errorf("got %v of %v", n.places, n.names)
	}
	if place, ok := n.find(now[1]); !ok || place != 2 {
		t.Errorf("c is at %d", place)
	}
	if place, ok := n.find(list("a")[0]); !ok || place != 0 { // an extender's NodeInfo
		t.Errorf("a is at %d", place)
	}
	if got := before.sorted(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("an older set has become %v", got)
	}
}
