package plugin

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/utils/lru"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// matching says which nodes of a list qualify by a selector.
type matching struct {
	nodes  int                        // how many qualify
	result *framework.PreFilterResult // names them, where that is worth it
	others string                     // says in words how many do not qualify, and why
}

// matchings keeps them as long as the nodes are the same.
type matchings struct {
	mu    sync.Mutex
	list  []framework.NodeInfo
	known *lru.Cache // of *matching, by regex.Selector
}

// maxMatchings is how many selectors have their names kept: those of 3,000 nodes
// take some 100 KB.
const maxMatchings = 500

func newMatchings() *matchings { return &matchings{known: lru.New(maxMatchings)} }

// of finds what qualifies of a list, which is not empty.
func (m *matchings) of(selector *regex.Selector, list []framework.NodeInfo) *matching {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !naming.Same(m.list, list) {
		m.list = list
		m.known.Clear()
	}
	if known, ok := m.known.Get(*selector); ok {
		return known.(*matching)
	}
	found := match(selector, list)
	m.known.Add(*selector, found)
	return found
}

func match(selector *regex.Selector, list []framework.NodeInfo) *matching {
	names := make([]string, 0, len(list))
	rejected := map[string]int{}
	for _, node := range list {
		name := node.Node().Name
		if verdict := selector.Judge(name); verdict == regex.Qualifies {
			names = append(names, name)
		} else {
			rejected[selector.Reason(verdict)]++
		}
	}
	m := &matching{nodes: len(names), others: naming.Rejected(rejected)}
	if naming.Worth(len(names), len(list)) {
		m.result = &framework.PreFilterResult{NodeNames: sets.New(names...)}
	}
	return m
}
