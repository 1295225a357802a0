package recorder

import (
	"cmp"
	"slices"
	"strings"
)

// details are the rows of an attempt, packed. They don't change once made.
type details struct {
	universe *universe
	groups   []group
	scoring  *scoring
	size     int
}

// dropped stands for details that had to make room.
var dropped = &details{universe: &universe{}}

// group is all the nodes of which the same was said, by the same column.
type group struct {
	verdict Verdict
	column  int
	reason  string
	nodes   nodeSet
}

// groupBytes is what a group takes beside its set and its reason.
const groupBytes = 120

// retain counts the details in, and returns how many bytes more are held now.
// Name lists are shared: the first that needs one pays for it.
func (d *details) retain() int {
	d.size = 0
	for _, g := range d.groups {
		d.size += groupBytes + len(g.reason) + g.nodes.bytes()
	}
	d.size += d.scoring.bytes()
	d.universe.refs++
	if d.universe.refs == 1 {
		return d.size + d.universe.bytes()
	}
	return d.size
}

// release is the opposite of retain.
func (d *details) release() int {
	d.universe.refs--
	if d.universe.refs == 0 {
		return d.size + d.universe.bytes()
	}
	return d.size
}

// summarise fills in the counts.
func (d *details) summarise(a *Attempt) {
	if d == nil || d == dropped {
		return
	}
	a.Total = len(d.universe.names)
	for _, g := range d.groups {
		if g.verdict != NotRun && g.verdict != LeftOut {
			a.Evaluated += g.nodes.len()
		}
		if g.column >= 0 && g.verdict != NotRun {
			a.Columns[g.column].Failed += g.nodes.len()
		}
	}
	if d.scoring != nil {
		a.ScoreColumns = d.scoring.columns()
	}
}

// rank puts what needs attention first.
var rank = map[Verdict]int{Errored: 0, Rejected: 1, LeftOut: 2, Passed: 3, NotRun: 4}

func (d *details) nodes() []NodeVerdict {
	rows := []NodeVerdict{}
	if d == nil {
		return rows
	}
	for _, g := range d.groups {
		for i := range g.nodes.all() {
			rows = append(rows, NodeVerdict{Node: d.universe.names[i], Verdict: g.verdict, Column: g.column, Reason: g.reason})
		}
	}
	slices.SortFunc(rows, func(a, b NodeVerdict) int {
		return cmp.Or(cmp.Compare(rank[a.Verdict], rank[b.Verdict]),
			cmp.Compare(a.Column, b.Column), strings.Compare(a.Node, b.Node))
	})
	return rows
}

func (d *details) scores() []NodeScore {
	if d == nil || d.scoring == nil {
		return []NodeScore{}
	}
	return d.scoring.rows(d.universe.names)
}
