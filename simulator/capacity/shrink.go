package capacity

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
)

// Stay is a node that cannot go, with the first reason.
type Stay struct {
	Node   string `json:"node"`
	Pod    string `json:"pod"`    // that is left without a node
	Reason string `json:"reason"` // without numbers, and so alike for many nodes
}

// Shrink finds nodes that can go together. It tries those on which least is requested
// first: more at a time as long as that succeeds, fewer when it fails. That is not the
// most that can go: another order may do better. In the end it drains what it found at
// once, as [Drain] does.
func Shrink(ctx context.Context, o Removal) (*Removed, error) {
	progress := o.Progress
	return o.run(ctx, func(ctx context.Context, m *mover) error {
		say := func() { progress("tries which nodes can go", len(m.Go)+len(m.Stay), len(o.Nodes)) }
		if err := m.find(ctx, o.Nodes, say); err != nil {
			return err
		}
		for _, p := range m.pods {
			p.home = p.first
		}
		for stuck := []Stay{{}}; len(stuck) > 0 && len(m.Go) > 0; {
			m.undo(m.Go)
			var err error
			if stuck, err = m.goes(ctx, m.Go); err != nil {
				return err
			}
			m.Moves, m.Stay = m.moves(m.Go), append(m.Stay, stuck...)
			m.undo(m.Go)
			m.Go = slices.DeleteFunc(m.Go, func(node string) bool {
				return slices.ContainsFunc(stuck, func(s Stay) bool { return s.Node == node })
			})
		}
		return nil
	})
}

// find has nodes go, batch by batch.
func (m *mover) find(ctx context.Context, left []string, say func()) error {
	for size := 1; len(left) > 0; say() {
		left = m.emptiestFirst(left)
		batch := left[:min(size, len(left))]
		for _, p := range m.pods {
			p.home = p.at
		}
		stuck, err := m.goes(ctx, batch)
		switch {
		case err != nil:
			return err
		case len(stuck) == 0:
			m.Go, left, size = append(m.Go, batch...), left[len(batch):], 2*size
			continue
		case len(batch) == 1:
			m.Stay, left = append(m.Stay, stuck...), left[1:]
		}
		m.undo(batch)
		size = max(1, len(batch)/2)
	}
	return nil
}

// emptiestFirst sorts by the larger share that is requested, of CPU or of memory.
func (m *mover) emptiestFirst(nodes []string) []string {
	cpu, memory, share := map[string]int64{}, map[string]int64{}, map[string]float64{}
	for _, p := range m.pods {
		cpu[p.at] += p.now.Requests.Cpu().MilliValue()
		memory[p.at] += p.now.Requests.Memory().Value()
	}
	for _, node := range m.nodes {
		has := node.Allocatable
		share[node.Name] = max(compare.Percent(cpu[node.Name], has.Cpu().MilliValue()), compare.Percent(memory[node.Name], has.Memory().Value()))
	}
	return slices.SortedFunc(slices.Values(nodes), func(a, b string) int { return cmp.Or(cmp.Compare(share[a], share[b]), cmp.Compare(a, b)) })
}

// goes tries whether nodes can go. If not, it says which cannot, of those that failed.
func (m *mover) goes(ctx context.Context, nodes []string) (stuck []Stay, err error) {
	m.Trials++
	for _, p := range m.pods {
		p.kept, p.pushedBy = "", ""
	}
	if err := m.clear(ctx, nodes, true); err != nil {
		return nil, err
	}
	for _, move := range m.moves(nodes) {
		one := Stay{move.From, move.Pod, cmp.Or(move.of.kept, why(move.of.now))}
		if move.PushedOutBy != "" {
			one.Node, one.Reason = nodes[len(nodes)-1], "it would be pushed out"
		} else if move.To != "" {
			continue
		}
		if !slices.ContainsFunc(stuck, func(s Stay) bool { return s.Node == one.Node }) {
			stuck = append(stuck, one)
		}
	}
	return stuck, nil
}

// why is what is against the nodes that a pod may not go to, or else what the scheduler
// said.
func why(pod *compare.Pod) string {
	reasons := sets.New[string]()
	if a := pod.Attempt; a != nil {
		for _, group := range a.Groups {
			if group.Column >= 0 && a.Columns[group.Column].Name != names.NodeUnschedulable {
				reasons.Insert(group.Reason)
			}
		}
	}
	return cmp.Or(strings.Join(sets.List(reasons), ", "), pod.Message)
}

// undo has pods and nodes put back, before anything else is tried.
func (m *mover) undo(nodes []string) {
	for _, node := range m.nodes {
		if !node.Unschedulable && slices.Contains(nodes, node.Name) {
			m.opened = append(m.opened, node.Name)
		}
	}
	for _, p := range m.pods {
		if p.at != p.home && !slices.Contains(m.undone, p) {
			m.undone = append(m.undone, p)
		}
		p.at = p.home
	}
}

func (m *mover) putBack(ctx context.Context) error {
	for _, p := range m.undone {
		err := m.Client().CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, *metav1.NewDeleteOptions(0))
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	err := errors.Join(m.make(ctx, m.undone, func(p *resident) string { return p.home }), m.cordon(ctx, m.opened, false))
	m.undone, m.opened = nil, nil
	return err
}
