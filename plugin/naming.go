package plugin

import (
	"sync"

	"k8s.io/kube-scheduler/framework"
	"k8s.io/utils/lru"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// matchings keeps which nodes of a list qualify, as long as the list is the same.
type matchings struct {
	mu    sync.Mutex
	list  []framework.NodeInfo
	known *lru.Cache // of *naming.Named, by regex.Selector
}

// maxMatchings is how many selectors have their names kept: those of 3,000 nodes
// take some 100 KB.
const maxMatchings = 500

func newMatchings() *matchings { return &matchings{known: lru.New(maxMatchings)} }

// of finds what qualifies of a list, which is not empty.
func (m *matchings) of(selector *regex.Selector, list []framework.NodeInfo) *naming.Named {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !naming.Same(m.list, list) {
		m.list = list
		m.known.Clear()
	}
	if known, ok := m.known.Get(*selector); ok {
		return known.(*naming.Named)
	}
	found := naming.Divide(list, func(i int) string { return selector.Reason(selector.Judge(list[i].Node().Name)) })
	m.known.Add(*selector, found)
	return found
}
