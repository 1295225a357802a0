package recorder

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

func TestNodeSetsKeepWhatIsPutIn(t *testing.T) {
	for _, places := range [][]int32{{}, {0}, {3, 64, 199}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 63, 64, 65, 127, 128, 199}} {
		set := newNodeSet(places, newTestNodes(200))
		if got := slices.Collect(set.all()); !slices.Equal(got, places) || set.len() != len(places) {
			t.Errorf("put in %v, got %v", places, got)
		}
		for range set.all() {
			break // a bitmap and a list must bear that
		}
	}
	every := make([]int32, 1000)
	for i := range every {
		every[i] = int32(i)
	}
	if set := newNodeSet(every, newTestNodes(1000)); cap(set.list) > 0 || cap(set.bitmap) > 16 {
		t.Errorf("1,000 nodes take %d numbers and %d words", cap(set.list), cap(set.bitmap))
	}
}

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
	before := newNodeSet(n.places[:2], n.names)
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

func TestValuesKeepWhatIsPutIn(t *testing.T) {
	for _, numbers := range [][]int64{{}, {7}, {7, 7, 7}, {0, 100, 255}, {0, 256}, {-1, 5}, {1 << 40, 0}} {
		v := newValues(numbers)
		for i, n := range numbers {
			if v.at(i) != n {
				t.Errorf("%v: got %d at %d", numbers, v.at(i), i)
			}
		}
	}
	if v := newValues([]int64{300, 300}); cap(v.small)+cap(v.large) != 0 {
		t.Errorf("a column of one number takes %+v", v)
	}
}
