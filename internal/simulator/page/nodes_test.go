package page

import (
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
)

// gpuNode is a node with eight GPUs in a zone, and a pod that has two of them.
func gpuNode(name, zone string) *nodeView {
	room := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("4"), "nvidia.com/gpu": resource.MustParse("8"),
		"example.com/none": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("1Gi"),
	}
	n := viewOf(&v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelTopologyZone: zone, v1.LabelInstanceTypeStable: "p5.48xlarge"}},
		Status:     v1.NodeStatus{Allocatable: room},
	})
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "trains-on-" + name, Namespace: "default"}}
	pod.Spec.NodeName = name
	pod.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"nvidia.com/gpu": resource.MustParse("2")}}}}
	(&contents{byName: map[string]*nodeView{name: n}}).add(&podView{Pod: pod})
	return n
}

// textOf is what a view says, without its tags.
func textOf(t *testing.T, view string, data any) string {
	t.Helper()
	body, err := execute(view, data)
	testkit.Must(t, err)
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(body), " ")), " ")
}

func TestNodeShowsItsZoneItsInstanceTypeAndItsExtendedResources(t *testing.T) {
	n := gpuNode("a", "eu-1b")
	card := textOf(t, "overview-live", map[string]any{"AllNodes": 1, "Pending": pageOf[*group]{}, "Tools": toolbar{}, "Nodes": pageOf[*nodeView]{pager{All: 1}, []*nodeView{n}}})
	sheet := textOf(t, "node", map[string]any{"Node": n, "Self": "/", "Pods": pageOf[*podView]{}, "Drain": (*job)(nil)})
	testkit.Has(t, card, "eu-1b · p5.48xlarge CPU", "nvidia.com/gpu 2/8")
	testkit.Has(t, sheet, "Zone, instance type eu-1b · p5.48xlarge", "nvidia.com/gpu requested 2 of 8")
	if strings.Contains(card, "example.com/none") || strings.Contains(card, "hugepages") {
		t.Errorf("it has none of it, or it is no extended resource: %s", card)
	}
}

func TestNodesAreFilteredByTheirFieldsAndSorted(t *testing.T) {
	cordoned := gpuNode("b", "eu-1a")
	cordoned.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
	cordoned.Spec.Unschedulable = true
	nodes := []*nodeView{gpuNode("a", "eu-1b"), cordoned, gpuNode("c", "eu-1a")}
	for filter, want := range map[string]string{
		"": "b c a", "EU-1A": "b c", "48xlarge": "b c a", "/gpu": "b c a", "cordoned": "b", "trains-on-c": "c", "eu-1c": "",
	} {
		kept := keep(toolbar{Filter: filter}, nodes)
		sortNodes(kept, "zone")
		var names []string
		for _, n := range kept {
			names = append(names, n.Name)
		}
		testkit.Equal(t, strings.Join(names, " "), want, "what %q finds", filter)
	}
}

func TestCommandToDrainIsQuoted(t *testing.T) {
	p := &page{cluster: &cluster{last: &contents{}}}
	found := p.removed(&drain.Result{Go: []string{"n1", "n2;touch owned"}}, true)
	testkit.Equal(t, found.Command, "kubectl drain --ignore-daemonsets --delete-emptydir-data --force n1 'n2;touch owned'", "the command")
}
