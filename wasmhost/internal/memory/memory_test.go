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

var (
	byName = &abi.Fields{Pod: []abi.Field{{Kind: abi.Annotation, Key: "a"}}, Node: []abi.Field{{Kind: abi.Name}}}
	byZone = &abi.Fields{Pod: byName.Pod, Node: []abi.Field{{Kind: abi.Label, Key: "zone"}}}
	no     = abi.Verdict{Code: int32(fwk.Unschedulable), Reasons: []string{"no"}}
)

// sizes are what a cache has reported.
type sizes struct {
	entries int
	bytes   int64
}

func cacheOf(fields *abi.Fields, limit int64) (*Cache, *sizes) {
	s := &sizes{}
	return New(fields, limit, func(entries int, bytes int64) { *s = sizes{entries, bytes} }), s
}

// pod has an annotation, if value is not nil.
func pod(value ...string) *v1.Pod {
	p := &v1.Pod{}
	for _, v := range value {
		p.Annotations = map[string]string{"a": v}
	}
	return p
}

func inZone(name, zone string) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}}}
}

func listOf(nodes ...*v1.Node) (list []fwk.NodeInfo) {
	for _, node := range nodes {
		info := framework.NewNodeInfo()
		info.SetNode(node)
		list = append(list, info)
	}
	return list
}

// put answers about all nodes of a list: those with this name do not pass.
func put(a *About, list []fwk.NodeInfo, rejected string) {
	verdicts := map[Node]abi.Verdict{}
	for _, info := range list {
		verdicts[a.Number(info)] = abi.Verdict{}
		if info.Node().Name == rejected {
			verdicts[a.Number(info)] = no
		}
	}
	a.Put(abi.Filter, verdicts)
}

func TestFieldThatIsMissingIsNotTheEmptyOne(t *testing.T) {
	c, _ := cacheOf(byName, 1<<20)
	empty := c.About(pod(""), nil)
	if c.About(pod(), nil).entry == empty.entry {
		t.Error("one entry for both")
	}
	if c.About(pod(""), nil).entry != empty.entry {
		t.Error("two entries for the same value")
	}
}

// A node's status is renewed all the time, and says nothing new to most guests.
func TestNodeThatChangesNothingDeclaredKeepsWhatPasses(t *testing.T) {
	c, _ := cacheOf(byZone, 1<<20)
	list := listOf(inZone("n1", "east"), inZone("n2", "west"))
	a := c.About(pod("x"), list)
	put(a, list, "n2")
	p := a.Passing()
	list[0].(*framework.NodeInfo).SetNode(inZone("n1", "east"))
	if c.About(pod("x"), list).Passing() != p {
		t.Error("another Node with the same zone: it is made again")
	}
	list[0].(*framework.NodeInfo).SetNode(inZone("n1", "west"))
	if now := c.About(pod("x"), list).Passing(); now == nil || now.Nodes != 0 {
		t.Errorf("another zone: %v", now)
	}
	other := listOf(inZone("n1", "east"), inZone("n3", "east"))
	now := c.About(pod("x"), other).Passing()
	if now == nil || now.Nodes != 2 {
		t.Errorf("another list: %v", now)
	}
}

func TestNumbersOfNodesThatAreGoneAreDropped(t *testing.T) {
	c, _ := cacheOf(byName, 1<<20)
	for i := range 3 * maxGone {
		c.About(pod("x"), listOf(inZone(fmt.Sprint("n", i), "")))
	}
	n := c.numbers.len()
	if n > 2*maxGone {
		t.Errorf("%d numbers for one node", n)
	}
}

func TestClosedCacheKeepsNothing(t *testing.T) {
	c, now := cacheOf(byName, 1<<20)
	list := listOf(inZone("n1", ""))
	a := c.About(pod("x"), list)
	c.Close()
	if c.About(pod("x"), list) != nil {
		t.Error("it goes on")
	}
	put(a, list, "") // by a cycle that has begun before
	if *now != (sizes{}) {
		t.Errorf("%+v", *now)
	}
	if (*Cache)(nil).About(pod("x"), list) != nil {
		t.Error("no cache keeps something")
	}
}

func BenchmarkGet(b *testing.B) {
	for _, count := range []int{1000, 5000} {
		var nodes []*v1.Node
		for i := range count {
			nodes = append(nodes, inZone(fmt.Sprintf("ip-10-%d-97-%d.eu-west-1.compute", i%7, i), ""))
		}
		list := listOf(nodes...)
		c, _ := cacheOf(byName, 64<<20)
		put(c.About(pod("x"), list), list, "")
		p := pod("x")
		// unlisted looks nodes up by the values of their fields, as for other NodeInfos.
		for name, of := range map[string]func(*About, fwk.NodeInfo) Node{
			"listed":   (*About).Number,
			"unlisted": func(a *About, info fwk.NodeInfo) Node { return a.NumberOf(info.Node()) },
		} {
			b.Run(fmt.Sprintf("%s/nodes=%d", name, count), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					a := c.About(p, list)
					for _, info := range list {
						_, known := a.Get(abi.Filter, of(a, info))
						if !known {
							b.Fatal("an answer is missing")
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/node")
			})
		}
	}
}
