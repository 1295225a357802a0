package recorder

// packer makes groups of nodes of which the same is said.
type packer struct {
	layout   *layout
	universe *universe
	groups   []group
	places   [][]int32
	index    map[said]int
	last     int
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

// find returns the place of a group. Mostly it is the one before: that
// comparison is cheaper than the map.
func (p *packer) find(s said) int {
	if len(p.groups) > 0 {
		if g := &p.groups[p.last]; g.verdict == s.verdict && g.column == s.column && g.reason == s.reason {
			return p.last
		}
	}
	i, ok := p.index[s]
	if !ok {
		if p.index == nil {
			p.index = map[said]int{}
		}
		i = len(p.groups)
		p.index[s] = i
		p.groups = append(p.groups, group{verdict: s.verdict, column: s.column, reason: s.reason})
		p.places = append(p.places, nil)
	}
	p.last = i
	return i
}

func (p *packer) details(s *scoring) *details {
	for i := range p.groups {
		p.groups[i].nodes = newNodeSet(p.places[i], len(p.universe.names))
	}
	return &details{universe: p.universe, groups: p.groups, scoring: s}
}
