package plugin

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
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
			testkit.Equal(t, names, tt.want, "named")
			_, status = pl.PostFilter(t.Context(), state, p, nil)
			testkit.Equal(t, status.Code(), framework.Unschedulable, "PostFilter: %v", status)
			testkit.Equal(t, status.Message(), tt.postFilter, "PostFilter")
		})
	}
}

// Each pod has two patterns of its own that are as large as they may be.
func TestWhatIsKeptOfPatternsIsBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pattern := func(first string) string {
		for len(first) < 1900 {
			first += fmt.Sprintf("|^%016x%016x%016x", random.Uint64(), random.Uint64(), random.Uint64())
		}
		return first
	}
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("%c-%04d-%s", "nm"[i%2], i, strings.Repeat("x", 40)))
	}
	pl, nodes := newPlugin(t, ""), nodesNamed(names...)
	before := testkit.HeapInUse()
	for range 500 {
		p := pod(regex.Annotation, pattern("^n-0"), regex.ExcludeAnnotation, pattern("^zz"))
		result, status := pl.PreFilter(t.Context(), schedframework.NewCycleState(), p, nodes)
		if !status.IsSuccess() || result.NodeNames.Len() != 500 {
			t.Fatal(result, status)
		}
	}
	held := int64(testkit.HeapInUse()) - int64(before)
	t.Logf("%d MiB are held", held>>20)
	if held > 12*(cacheBytes+namedBytes)/10 {
		t.Errorf("%d bytes are held, and %d are the bound", held, cacheBytes+namedBytes)
	}
	runtime.KeepAlive(pl)
}
