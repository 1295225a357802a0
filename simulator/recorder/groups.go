package recorder

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/kube-scheduler/framework"
)

// said is a group without its nodes.
type said struct {
	verdict Verdict
	column  int
	reason  string
}

// grouping sorts nodes by what was said of them.
type grouping struct {
	said   []said
	places [][]int32
	index  map[said]int // of those past few
}

// few is how many groups are looked through before a map is the faster way. Most
// attempts have fewer: reasons don't name nodes.
const few = 8

// add puts a node into the group to which it belongs.
func (g *grouping) add(place int32, what said) {
	i := g.find(what)
	g.places[i] = append(g.places[i], place)
}

func (g *grouping) find(what said) int {
	if i := slices.Index(g.said[:min(few, len(g.said))], what); i >= 0 {
		return i
	}
	if i, ok := g.index[what]; ok {
		return i
	}
	i := len(g.said)
	if i >= few {
		if g.index == nil {
			g.index = map[said]int{}
		}
		g.index[what] = i
	}
	g.said, g.places = append(g.said, what), append(g.places, nil)
	return i
}

// rank puts what needs attention first.
var rank = map[Verdict]int{Errored: 0, Rejected: 1, LeftOut: 2, Passed: 3, NotRun: 4}

// groups are the groups, in the order of need.
func (g *grouping) groups(names []string) []Group {
	groups := make([]Group, len(g.said))
	for i, what := range g.said {
		groups[i] = Group{what.verdict, what.column, what.reason, newNodeSet(g.places[i], names)}
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(rank[a.Verdict], rank[b.Verdict]), cmp.Compare(a.Column, b.Column),
			cmp.Compare(b.Len(), a.Len()), strings.Compare(a.Reason, b.Reason))
	})
	return groups
}

// passed stands, among the cells, for a node that passed.
var passed = framework.NewStatus(framework.Success)

// groups sorts all nodes by what was said of them in a cycle.
func (s *session) groups(c *cycle) []Group {
	var g grouping
	for _, place := range s.nodes.places {
		g.add(place, c.say(s.cells[place], s.nodes.names[place]))
	}
	return g.groups(s.nodes.names)
}

// say is what there is to say of a node.
func (c *cycle) say(status *framework.Status, node string) said {
	switch {
	case status == passed:
		return said{Passed, -1, ""}
	case status == nil && c.leftOut != nil && c.leftOut(node):
		return c.why
	case status == nil:
		return said{NotRun, -1, ""}
	}
	verdict, reason := judge(status)
	return said{verdict, c.rec.profile.columnOf(status.Plugin()), reason}
}

// judge is what a status says.
func judge(status *framework.Status) (Verdict, string) {
	switch {
	case status.IsSuccess():
		return Passed, ""
	case status.IsSkip():
		return Skipped, ""
	case status.IsWait():
		return Waits, status.Message()
	case status.IsRejected():
		return Rejected, status.Message()
	}
	return Errored, status.Message()
}
