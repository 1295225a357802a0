package plugin

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func nodesNamed(names ...string) (nodes []framework.NodeInfo) {
	for _, name := range names {
		nodes = append(nodes, node(name))
	}
	return nodes
}

func TestPreFilterNamesTheNodesThatMatch(t *testing.T) {
	pl := newPlugin(t, "")
	first, later := nodesNamed("a1", "a2", "b1", "b2", "c1"), nodesNamed("a1", "b2", "b3", "c1")
	for _, tt := range []struct {
		name, pattern string
		nodes         []framework.NodeInfo
		want          []string
		rejected      string
		postFilter    string
	}{
		{"few", "^a", first, []string{"a1", "a2"}, "", `3 node(s) didn't match the pod's node name regex "^a"`},
		{"the same again", "^a", first, []string{"a1", "a2"}, "", `3 node(s) didn't match the pod's node name regex "^a"`},
		{"other nodes", "^a", later, []string{"a1"}, "", `3 node(s) didn't match the pod's node name regex "^a"`},
		{"two reasons", "^[ac]", later, []string{"a1"}, "", `1 node(s) matched the pod's node name regex-exclude "c", 2 node(s) didn't match the pod's node name regex "^[ac]"`},
		{"most", "^[ab]", nodesNamed("a1", "a2", "a3", "b1", "b2", "c1"), nil, "", ""},
		{"none", "^x", first, nil, `5 node(s) didn't match the pod's node name regex "^x"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			state, p := schedframework.NewCycleState(), pod(regex.Annotation, tt.pattern, regex.ExcludeAnnotation, "c")
			if tt.name != "two reasons" {
				delete(p.Annotations, regex.ExcludeAnnotation)
			}
			result, status := pl.PreFilter(t.Context(), state, p, tt.nodes)
			if status.Message() != tt.rejected || (tt.rejected != "") != (status.Code() == framework.UnschedulableAndUnresolvable) {
				t.Fatalf("got %v", status)
			}
			var names []string
			if !result.AllNodes() {
				names = sets.List(result.NodeNames)
			}
			if !slices.Equal(names, tt.want) {
				t.Errorf("named %q, want %q", names, tt.want)
			}
			_, status = pl.PostFilter(t.Context(), state, p, nil)
			if status.Code() != framework.Unschedulable || status.Message() != tt.postFilter {
				t.Errorf("PostFilter: %v", status)
			}
		})
	}
}
