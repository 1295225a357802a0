package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
)

// names is what requests have shown of whether the values are of nodes at all:
// a query by instance gives addresses unless Prometheus relabels them.
//
// That one node was known settles it for as long as that node has a value, so
// that a pod that only nodes without a value suit changes nothing.
type names struct {
	known   atomic.Pointer[string] // has a value, and a request asked for it
	unknown atomic.Pointer[string] // a request asked for it, and had no node with a value
	misses  atomic.Int64           // requests without such a node, while none is known
}

// none stands for the index of a node when there is none.
const none = -1

// compare notes whether one of a request's names, that at index known, has a
// value. It costs an atomic load, unless there is something new.
func (l *load) compare(s *snapshot, asked []string, known int) {
	n := &l.names
	switch {
	case known != none:
		if n.known.Load() != nil {
			return
		}
		name := strings.Clone(asked[known]) // or it would keep its whole request
		if n.known.CompareAndSwap(nil, &name) && n.unknown.Swap(nil) != nil {
			l.logger.Info("Values and requests have names in common again", "node", name)
		}
	case len(asked) > 0 && n.known.Load() == nil:
		n.misses.Add(1)
		name := strings.Clone(asked[0])
		if n.unknown.CompareAndSwap(nil, &name) {
			l.logger.Info("Warning: "+l.mismatch(s, name), "scoreOfAll", l.config.Missing)
		}
	}
}

// forget drops what was known of names of which the values have none any more.
func (n *names) forget(values map[string]float64) {
	known := n.known.Load()
	if known == nil {
		return
	}
	if _, ok := values[*known]; !ok {
		n.unknown.Store(nil)
		n.known.Store(nil)
	}
}

// stranger is a node that was asked for, if none that was asked for is known.
func (n *names) stranger() (name string, is bool) {
	unknown := n.unknown.Load()
	if unknown == nil || n.known.Load() != nil {
		return "", false
	}
	return *unknown, true
}

func (l *load) mismatch(s *snapshot, asked string) string {
	return fmt.Sprintf("the values are for names like %q, and none is for a node that is asked for, like %q: set nodeLabel to a label with the node's name, or have Prometheus relabel %s to it",
		slices.Min(slices.Collect(maps.Keys(s.values))), asked, l.config.NodeLabel)
}
