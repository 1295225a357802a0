package capacity

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/simulator/side"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// Removal says which nodes are to go, in a copy of a cluster.
type Removal struct {
	side.Options          // but for Then
	Nodes        []string // for Shrink, those that may go
	Force        bool     // pods without a controller are evicted, too, as if one made them anew
}

// Move is what became of a pod that lost its node, or was to leave it.
type Move struct {
	Pod         string `json:"pod"` // with its namespace
	From        string `json:"from"`
	To          string `json:"to,omitempty"`          // empty if there is no other node for it
	Reason      string `json:"reason,omitempty"`      // why not
	PushedOutBy string `json:"pushedOutBy,omitempty"` // the pod that it had to make room for

	of *resident
}

// Removed is what came of it.
type Removed struct {
	Go      []string          `json:"go"`    // the nodes that go
	Moves   []Move            `json:"moves"` // first those without another node
	Stay    []Stay            `json:"stay,omitempty"`
	Trials  int               `json:"trials,omitempty"`
	LeftOut []snapshot.Notice `json:"leftOut,omitempty"`
}

// Lost is how many pods have no other node.
func (r *Removed) Lost() (lost int) {
	for _, move := range r.Moves {
		if move.To == "" {
			lost++
		}
	}
	return lost
}

// Drain cordons nodes, and evicts their pods as kubectl drain --ignore-daemonsets does.
// What a budget keeps is tried again, once others are ready elsewhere.
func Drain(ctx context.Context, o Removal) (*Removed, error) {
	return o.run(ctx, func(ctx context.Context, m *mover) error {
		err := m.clear(ctx, o.Nodes, 2)
		m.Go, m.Moves = o.Nodes, m.moves(o.Nodes)
		return err
	})
}

// Bare are the pods on the nodes that nothing makes anew once they are evicted.
func (o *Removal) Bare() (names []string) {
	for _, p := range newMover(o.Cluster).pods {
		if slices.Contains(o.Nodes, p.Spec.NodeName) && p.maker == "" {
			names = append(names, p.name)
		}
	}
	return names
}

// run does something in the copy, once that is at rest.
func (o *Removal) run(ctx context.Context, do func(context.Context, *mover) error) (*Removed, error) {
	m := newMover(o.Cluster)
	m.force = o.Force
	o.Then = func(ctx context.Context, box *side.Sandbox) error {
		if err := m.enter(ctx, box, func(context.Context) error { return nil }); err != nil {
			return err
		}
		return do(ctx, m)
	}
	result, err := side.Run(ctx, o.Options)
	if err != nil {
		return nil, err
	}
	m.LeftOut = result.LeftOut
	return &m.Removed, nil
}

// moves are those of the pods that were to leave nodes, and of those that they pushed out.
func (m *mover) moves(nodes []string) []Move {
	var lost, kept, moved []Move
	for _, p := range m.pods {
		if p.home == "" || p.at == p.home && !(slices.Contains(nodes, p.home) && p.leaves()) {
			continue
		}
		move := Move{Pod: p.name, From: p.home, PushedOutBy: p.pushedBy, of: p}
		switch move.Reason = p.kept; p.at {
		case p.home:
			kept = append(kept, move)
		case "":
			move.Reason = reason(p.now)
			lost = append(lost, move)
		default:
			move.To, move.Reason = p.at, ""
			moved = append(moved, move)
		}
	}
	return append(append(append([]Move{}, lost...), kept...), moved...)
}

// reason is why a pod has no node, in a line.
func reason(pod *side.Pod) string {
	if pod.State == side.PushedOut {
		return "it was pushed out, and nothing makes it anew"
	}
	return strings.Join(strings.Fields(cmp.Or(pod.Message, pod.State)), " ")
}
