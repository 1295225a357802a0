package memory

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// newCache is of a guest that decides by a pod's annotation and a node's name. It keeps what the cache reports.
func newCache() (c *Cache, size *[2]int64) {
	fields := &abi.Fields{Pod: []abi.Field{{Kind: abi.Annotation, Key: "a"}}, Node: []abi.Field{{Kind: abi.Name}}}
	size = &[2]int64{}
	return New(fields, 1<<20, func(entries int, bytes int64) { *size = [2]int64{int64(entries), bytes} }), size
}

// pod has an annotation, if value is not nil.
func pod(value ...string) *v1.Pod {
	p := &v1.Pod{}
	for _, v := range value {
		p.Annotations = map[string]string{"a": v}
	}
	return p
}

func listOf(name string) []fwk.NodeInfo {
	info := framework.NewNodeInfo()
	info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return []fwk.NodeInfo{info}
}

func TestFieldThatIsMissingIsNotTheEmptyOne(t *testing.T) {
	c, _ := newCache()
	empty := c.About(pod(""), nil)
	if c.About(pod(), nil).kind == empty.kind {
		t.Error("one entry for both")
	}
	if c.About(pod(""), nil).kind != empty.kind {
		t.Error("two entries for the same value")
	}
}

func TestNumbersOfNodesThatAreGoneAreDropped(t *testing.T) {
	c, _ := newCache()
	for i := range 3 * maxGone {
		c.About(pod("x"), listOf(fmt.Sprint("n", i)))
	}
	n := c.numbers.len()
	if n > 2*maxGone {
		t.Errorf("%d numbers for one node", n)
	}
}

func TestClosedCacheKeepsNothing(t *testing.T) {
	c, size := newCache()
	list := listOf("n1")
	a := c.About(pod("x"), list)
	a.Put(abi.Filter, a.Number(list[0]), abi.Verdict{})
	if size[0] != 1 || size[1] == 0 {
		t.Errorf("%d entries of %d bytes", size[0], size[1])
	}
	c.Close()
	if c.About(pod("x"), list) != nil {
		t.Error("it goes on")
	}
	a.Put(abi.Filter, a.Number(list[0]), abi.Verdict{}) // by a cycle that has begun before
	if *size != [2]int64{} {
		t.Errorf("%d entries of %d bytes", size[0], size[1])
	}
	if (*Cache)(nil).About(pod("x"), list) != nil {
		t.Error("no cache keeps something")
	}
}
