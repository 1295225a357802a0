package answers

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// newStore is of a guest that decides by a pod's annotation and a node's name. It keeps what the store reports.
func newStore() (c *Store, size *[2]int64) {
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
	return snapshot.Of(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}).Nodes
}

func TestFieldThatIsMissingIsNotTheEmptyOne(t *testing.T) {
	c, _ := newStore()
	empty := c.Of(pod(""), nil)
	if c.Of(pod(), nil).kind == empty.kind {
		t.Error("one entry for both")
	}
	if c.Of(pod(""), nil).kind != empty.kind {
		t.Error("two entries for the same value")
	}
}

func TestNumbersOfNodesThatAreGoneAreDropped(t *testing.T) {
	c, _ := newStore()
	for i := range 3 * maxGone {
		c.Of(pod("x"), listOf(fmt.Sprint("n", i)))
	}
	n, _ := c.numbers.size()
	if n > 2*maxGone {
		t.Errorf("%d numbers for one node", n)
	}
}

func TestLongValuesOfNodesThatAreGoneAreDropped(t *testing.T) {
	const length = 100 << 10
	fields := &abi.Fields{Node: []abi.Field{{Kind: abi.Annotation, Key: "a"}}}
	c := New(fields, 1<<20, func(int, int64) {})
	for i := range 100 {
		list := listOf("n1")
		list[0].Node().Annotations = map[string]string{"a": fmt.Sprintf("%0*d", length, i)}
		c.Of(pod(), list)
	}
	_, bytes := c.numbers.size()
	if bytes > maxGoneBytes+4*length {
		t.Errorf("%d bytes for a node with %d", bytes, length)
	}
}

func TestCycleWithoutNodesHasNone(t *testing.T) {
	c, _ := newStore()
	c.Of(pod("x"), listOf("n1"))
	testkit.Equal(t, c.Of(pod("x"), nil).Nodes(), 0, "nodes of the cycle")
}

// An attempt has a bound for what the guest hands over in it. What is remembered adds up, and each later attempt reports all of it.
func TestReasonsOfAPodAreBoundedOverAllAttempts(t *testing.T) {
	const nodes, length = 1500, 8000
	c, _ := newStore()
	c = New(c.fields, 64<<20, func(int, int64) {})
	var list []fwk.NodeInfo
	for i := range nodes {
		list = append(list, listOf(fmt.Sprint("n", i))...)
	}
	kind := c.Of(pod("x"), list)
	for i, node := range list {
		kind.Answer(abi.Filter, node).Put(&abi.Out{Verdict: abi.Verdict{Code: 3, Reasons: []string{fmt.Sprint(i, strings.Repeat("r", length))}}})
	}
	reasons := map[string]bool{}
	for _, node := range list {
		var out abi.Out
		if !kind.Answer(abi.Filter, node).Get(&out) || out.Code != 3 {
			t.Fatalf("got %v", out)
		}
		reasons[out.Reason()] = true
	}
	const most = 512 << 10
	if named := kind.Passing(); len(named.Rejected) > most+length || len(reasons)*length > most+length || !reasons[abi.OutOfReasons] {
		t.Errorf("%d reasons from Filter, %d bytes from PreFilter", len(reasons), len(named.Rejected))
	}
}

func TestClosedStoreRemembersNothing(t *testing.T) {
	c, size := newStore()
	list := listOf("n1")
	a := c.Of(pod("x"), list)
	a.Answer(abi.Filter, list[0]).Put(&abi.Out{})
	if size[0] != 1 || size[1] == 0 {
		t.Errorf("%d entries of %d bytes", size[0], size[1])
	}
	c.Close()
	if c.Of(pod("x"), list) != nil {
		t.Error("it goes on")
	}
	a.Answer(abi.Filter, list[0]).Put(&abi.Out{}) // by a cycle that has begun before
	testkit.Equal(t, *size, [2]int64{}, "entries and bytes")
	if (*Store)(nil).Of(pod("x"), list) != nil {
		t.Error("no store remembers something")
	}
}
