package recorder

// packer makes groups of nodes of which the same is said.
type packer struct {
	layout   *layout
	universe *universe
	groups   []group
	places   [][]int32
	index    map[said]int // of those past few
}

// said is a group without its nodes.
type said struct {
	verdict Verdict
	column  int
	reason  string
}

func (l *layout) columnOf(plugin string) int {
	if column, ok := l.column[plugin]; ok {
		return column
	}
	return -1
}

// add puts a node into a group. Places must come in increasing order.
func (p *packer) add(place int32, g group) {
	i := p.find(said{g.verdict, g.column, g.reason})
	p.places[i] = append(p.places[i], place)
}

// few is how many groups are looked through before a map is the faster way. Most
// attempts have fewer: reasons don't name nodes.
const few = 8

// find returns the place of a group.
func (p *packer) find(s said) int {
	for i := range p.groups[:min(few, len(p.groups))] {
		if g := &p.groups[i]; g.column == s.column && g.verdict == s.verdict && g.reason == s.reason {
			return i
		}
	}
	if i, ok := p.index[s]; ok {
		return i
	}
	i := len(p.groups)
	if i >= few {
		if p.index == nil {
			p.index = map[said]int{}
		}
		p.index[s] = i
	}
	p.groups = append(p.groups, group{verdict: s.verdict, column: s.column, reason: s.reason})
	p.places = append(p.places, nil)
	return i
}

func (p *packer) details(s *scoring) *details {
	for i := range p.groups {
		p.groups[i].nodes = newNodeSet(p.places[i], len(p.universe.names))
	}
	return &details{universe: p.universe, groups: p.groups, scoring: s}
}
