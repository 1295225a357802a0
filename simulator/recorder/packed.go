package recorder

import (
	"encoding/binary"
	"errors"
)

// Packer packs attempts for a file that has thousands of them: the name of a node
// stands in it once.
type Packer struct {
	// Names are those of the nodes in all that was packed.
	Names  []string
	places map[string]int
}

// Packed is an attempt in a file. It lacks what plugins gave in scales of their own,
// and the verdicts on the pod that changed nothing.
type Packed struct {
	Fields fields         `json:"attempt"`
	Groups []packedGroup  `json:"groups,omitempty"`
	Scored []byte         `json:"scored,omitempty"` // the nodes
	Scores []packedScores `json:"scores,omitempty"` // for each of ScoreColumns
}

// packedGroup has nodes by their places in Packer.Names, each as the distance from the
// one before: mostly a byte.
type packedGroup struct {
	Verdict Verdict `json:"verdict"`
	Column  int     `json:"column"`
	Reason  string  `json:"reason,omitempty"`
	Nodes   []byte  `json:"nodes"`
}

type packedScores struct {
	Extender   []int64 `json:"extender,omitempty"`
	Normalized []byte  `json:"normalized,omitempty"`
}

// Pack packs an attempt; nil gives nil.
func (p *Packer) Pack(a *Attempt) *Packed {
	if a == nil {
		return nil
	}
	packed := &Packed{Fields: fields(*a)}
	packed.Fields.PreScore = nil
	for _, verdicts := range []*[]PluginVerdict{
		&packed.Fields.PreFilter, &packed.Fields.Reserve, &packed.Fields.Permit, &packed.Fields.PreBind, &packed.Fields.Bind,
	} {
		*verdicts = withoutPassed(*verdicts)
	}
	for _, g := range a.Groups {
		packed.Groups = append(packed.Groups, packedGroup{g.Verdict, g.Column, g.Reason, p.nodes(g.nodes)})
	}
	if a.scoring != nil {
		packed.Scored = p.nodes(a.scoring.nodes)
		for _, column := range a.scoring.columns {
			one := packedScores{Normalized: column.normalized}
			if column.Extender {
				one.Extender = column.raw
			}
			packed.Scores = append(packed.Scores, one)
		}
	}
	return packed
}

func withoutPassed(all []PluginVerdict) (rest []PluginVerdict) {
	for _, one := range all {
		if one.Verdict != Passed && one.Verdict != Skipped || one.LimitsNodes {
			rest = append(rest, one)
		}
	}
	return rest
}

func (p *Packer) nodes(set nodeSet) (distances []byte) {
	last := 0
	for _, place := range set.places {
		at := p.place(set.names[place])
		distances, last = binary.AppendVarint(distances, int64(at-last)), at
	}
	return distances
}

func (p *Packer) place(name string) int {
	at, ok := p.places[name]
	if !ok {
		if p.places == nil {
			p.places = map[string]int{}
		}
		at = len(p.Names)
		p.Names, p.places[name] = append(p.Names, name), at
	}
	return at
}

// Unpack is the attempt that was packed, given [Packer.Names]; nil gives nil.
func (p *Packed) Unpack(names []string) (*Attempt, error) {
	if p == nil {
		return nil, nil
	}
	a := Attempt(p.Fields)
	for _, g := range p.Groups {
		nodes, err := unpack(g.Nodes, names)
		if err != nil {
			return nil, err
		}
		a.Groups = append(a.Groups, Group{g.Verdict, g.Column, g.Reason, nodes})
	}
	if len(p.Scores) != len(a.ScoreColumns) {
		return nil, errors.New("there are scores of other plugins than the attempt has")
	}
	nodes, err := unpack(p.Scored, names)
	if err != nil {
		return nil, err
	}
	a.scoring = &scoring{nodes: nodes}
	for i, s := range p.Scores {
		head := a.ScoreColumns[i]
		if count := len(s.Normalized); head.Extender && len(s.Extender) != len(nodes.places) || !head.Extender && count != len(nodes.places) {
			return nil, errors.New(head.Name + " has scored other nodes than the attempt has")
		}
		a.scoring.columns = append(a.scoring.columns, scores{head, s.Extender, s.Normalized})
	}
	return &a, nil
}

func unpack(distances []byte, names []string) (nodeSet, error) {
	set, at := nodeSet{names: names}, int64(0)
	for len(distances) > 0 {
		distance, size := binary.Varint(distances)
		at += distance
		if size <= 0 || at < 0 || at >= int64(len(names)) {
			return set, errors.New("it names nodes that are not in the list")
		}
		set.places, distances = append(set.places, int32(at)), distances[size:]
	}
	return set, nil
}
