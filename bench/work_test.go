package bench

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// kase is a kind of pods to measure.
type kase struct {
	name, pattern string
	plain         bool // no annotation
	fresh         bool // also a pattern that no pod had before
	notInMix      bool // no pods of a whole scheduler's mix
	// variants says whether the cycles of a variant are measured. Nil: of none.
	variants func(*variant) bool
}

func allOfThem(*variant) bool { return true }

// ofThePolicy excludes the floors, which do not read a pattern.
func ofThePolicy(d *variant) bool { return d.role != floor }

// inProcess excludes the extender.
func inProcess(d *variant) bool { return !d.overHTTP }

// cases are patterns that users write, new ones, and none.
var cases = []*kase{
	{name: "prefix", pattern: `^kubecon-`, variants: allOfThem},
	// Too many nodes match to name them to the scheduler: Filter runs on each.
	{name: "most", pattern: `^(kubecon|gke|aks)-`, variants: inProcess, notInMix: true},
	newPatterns,
	{name: "suffix", pattern: `\.internal$`},
	{name: "literal", pattern: `pool-3`},
	{name: "class", pattern: `^gke-[a-z0-9-]+$`},
	{name: "alternation-3", pattern: `kubecon-|vmss|edge-`},
	{name: "alternation-100", pattern: hundred()},
	{name: "ignore-case", pattern: `(?i)KUBECON`},
	{name: "anything", pattern: `.*`},
	{name: "two-names", pattern: `^(kubecon-1|kubecon-2)$`},
	{name: "none", plain: true, variants: allOfThem},
	{name: "invalid", pattern: `kubecon-(`, notInMix: true},
}

// newPatterns all match the same quarter of the nodes.
var newPatterns = &kase{name: "new", pattern: `^kubecon-`, fresh: true, variants: ofThePolicy, notInMix: true}

// fresh numbers the patterns, so that no variant gets one twice.
var fresh atomic.Int64

// again is the pod of the next cycle: the same one, or one with a new pattern.
func (c *kase) again(pod *v1.Pod) *v1.Pod {
	if !c.fresh {
		return pod
	}
	n, again := fresh.Add(1), *pod
	again.UID = types.UID(fmt.Sprintf("5c1de4a0-77aa-4c3e-9a51-%012x", n))
	again.Annotations = maps.Clone(pod.Annotations)
	again.Annotations[regex.Annotation] = fmt.Sprintf("%s|^pod-%d-", c.pattern, n)
	return &again
}

// hundred is an alternation of 100 nodes' short names, not anchored. With their
// domains they would exceed the budget of a pattern.
func hundred() string {
	var names []string
	for i := range 100 {
		name, _, _ := strings.Cut(nodeName(3+28*i), ".")
		names = append(names, name)
	}
	return strings.Join(names, "|")
}

// admits are the names of the nodes that a pod may run on, sorted.
func admits(pod *v1.Pod, names []string) (admitted []string) {
	re, err := regexp.Compile(pod.Annotations[regex.Annotation])
	for _, name := range names {
		if err == nil && re.MatchString(name) {
			admitted = append(admitted, name)
		}
	}
	slices.Sort(admitted)
	return admitted
}

// cluster is the nodes of a cluster.
type cluster struct {
	*snapshot.Handle
	names    []string
	renewals renewals
}

func newCluster(n int) *cluster {
	c := &cluster{}
	var nodes []*v1.Node
	for i := range n {
		c.names = append(c.names, nodeName(i))
		nodes = append(nodes, objects.Node(c.names[i], i))
	}
	c.Handle = snapshot.Of(nodes...)
	return c
}

// nodeName is the name of node i: the big clouds' ways to name nodes take turns
// with the one of the talk, so that every pattern finds something to match and
// something to reject.
func nodeName(i int) string {
	n := i / 4
	switch i % 4 {
	case 0:
		return fmt.Sprintf("kubecon-%d", n+1)
	case 1:
		return fmt.Sprintf("gke-prod-pool-%d-%08x-%04x", n%7, (n%7+1)*0x1f3b5c79, 0x1000+n)
	case 2:
		return fmt.Sprintf("aks-nodepool1-31742906-vmss%06x", n)
	}
	return fmt.Sprintf("ip-10-0-%d-%d.eu-west-1.compute.internal", n/256, n%256)
}

func TestEveryVariantAdmitsWhatRegexpAdmits(t *testing.T) {
	clusters := openAll(t, asked(t), []int{100})
	for _, c := range cases {
		n := len(admits(c.pod(0), clusters[0].names))
		testkit.Equal(t, n == 0, c.name == "invalid", "%s: %d of 100 nodes match", c.name, n)
		for d := range clusters[0].sessions {
			if d.role != ours {
				continue
			}
			_, err := clusters[0].check(d, c)
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// readPod reads a pod of two containers with their environment, probes and volumes, and annotations of kubectl and a mesh. It has
// no managed fields: the scheduler drops them.
var readPod = sync.OnceValue(func() *v1.Pod {
	text, err := os.ReadFile("testdata/pod.yaml")
	pod := &v1.Pod{}
	if err == nil {
		err = yaml.UnmarshalStrict(text, pod)
	}
	if err != nil {
		panic(err)
	}
	return pod
})

// pod is pod i of a case.
func (c *kase) pod(i int) *v1.Pod {
	pod := readPod().DeepCopy()
	pod.Name = fmt.Sprintf("web-6c9f7d5b8-%05d", i)
	pod.UID = types.UID(fmt.Sprintf("0b6f2c1d-77aa-4c3e-9a51-%012x", i))
	if !c.plain {
		pod.Annotations[regex.Annotation] = c.pattern
	}
	return c.again(pod)
}
