package engine

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

func TestFeasibleNodesOfASampleAreAtLeastSoMany(t *testing.T) {
	const noScore = "profiles: [{plugins: {score: {disabled: [{name: '*'}]}, multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: DefaultBinder}]}}}]\n"
	for name, tt := range map[string]struct {
		nodes  int
		config string
		place  string
	}{
		"few nodes":      {100, "", " or 99 others"},
		"many nodes":     {200, "", " or at least 99 others"},
		"all are scored": {200, "percentageOfNodesToScore: 100\n", " or 199 others"},
		"none is scored": {200, noScore, ", and perhaps others"},
	} {
		t.Run(name, func(t *testing.T) {
			var nodes strings.Builder
			for i := range tt.nodes {
				nodes.WriteString(node(fmt.Sprint("n", i), "2"))
			}
			e := over(t, read(t, "nodes:\n"+nodes.String()+"pods:\n"+pod("a", "", "1", "")), func(o *Options) {
				var err error
				o.Config, err = kubescheduler.Read([]byte(unmodified + tt.config))
				testkit.Must(t, err)
			})
			testkit.Must(t, e.Run(t.Context()))
			o := e.Outcome(types.NamespacedName{Namespace: "default", Name: "a"})
			if Place(o.Node, o.Feasible, o.Sampled) != o.Node+tt.place {
				t.Errorf("it is on %q", Place(o.Node, o.Feasible, o.Sampled))
			}
			again := cluster.Get[*v1.Pod](e.Cluster, "default", "a").DeepCopy()
			again.Name, again.UID, again.Spec.NodeName = "b", "b", ""
			o, _, err := e.Feasible(t.Context(), again)
			testkit.Must(t, err)
			if Place(o.Node, o.Feasible, o.Sampled) != o.Node+tt.place {
				t.Errorf("another one like it would be on %q", Place(o.Node, o.Feasible, o.Sampled))
			}
		})
	}
}
