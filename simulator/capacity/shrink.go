package capacity

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
	"wasmkwokwizardry.io/regex-scheduling/simulator/side"
)

// Stay is a node that cannot go, with the first reason.
type Stay struct {
	Node   string `json:"node"`
	Pod    string `json:"pod"`    // that is left without a node
	Reason string `json:"reason"` // without numbers, and so alike for many nodes
}

// batches is how many there are at least of the nodes that stay, of which each is tried
// once more in a smaller batch. More take longer, and hardly find more.
const batches = 64

// Shrink finds nodes that can go together. It tries those first of which least is
// requested, twice as many at a time as long as all can go, and puts back those that fail.
// That is greedy: another order may do better. In the end all go at once, as in [Drain].
func Shrink(ctx context.Context, o Removal) (*Removed, error) {
	progress, quiet := o.Progress, false
	o.Progress = func(step string, done, of int) {
		if !quiet {
			progress(step, done, of)
		}
	}
	return o.run(ctx, func(ctx context.Context, m *mover) error {
		quiet = true // of what becomes of pods in each trial
		m.Spare()
		say := func() { progress("tries which nodes can go", len(m.Go)+len(m.Stay), len(o.Nodes)) }
		first, err := m.given(ctx)
		if err != nil {
			return err
		}
		if err := m.find(ctx, o.Nodes, say); err != nil {
			return err
		}
		for _, p := range m.pods {
			p.home = p.first
		}
		m.had = first
		m.undo(m.Go)
		for {
			gone, stuck, err := m.goes(ctx, m.Go)
			if err != nil || len(gone) == len(m.Go) {
				m.Moves = m.moves(m.Go)
				return err
			}
			m.undo(m.Go)
			m.Go, m.Stay = gone, append(m.Stay, stuck...)
		}
	})
}

// find has nodes go, batch by batch.
func (m *mover) find(ctx context.Context, left []string, say func()) (err error) {
	least := max(1, len(left)/batches)
	for size := 1; len(left) > 0; say() {
		left = m.emptiestFirst(left)
		batch := left[:min(size, len(left))]
		for _, p := range m.pods {
			p.home = p.at
		}
		if m.had, err = m.given(ctx); err != nil {
			return err
		}
		gone, stuck, err := m.goes(ctx, batch)
		if err != nil {
			return err
		}
		m.Go, left = append(m.Go, gone...), without(left, gone)
		if size *= 2; len(stuck) == 0 {
			continue
		}
		m.undo(without(batch, gone))
		if len(batch) <= least {
			m.Stay, left = append(m.Stay, stuck...), without(left, batch)
		}
		size = max(least, len(batch)/2)
	}
	return nil
}

func without(nodes, some []string) []string {
	return slices.DeleteFunc(slices.Clone(nodes), func(node string) bool { return slices.Contains(some, node) })
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

// goes tries which of the nodes can go, and says of the others why not.
func (m *mover) goes(ctx context.Context, nodes []string) (gone []string, stuck []Stay, err error) {
	m.Trials++
	for _, p := range m.pods {
		p.kept, p.pushedBy = "", ""
	}
	if err := m.clear(ctx, nodes, 1); err != nil {
		return nil, nil, err
	}
	var stay []string
	for _, move := range m.moves(nodes) {
		if move.To == "" && !slices.Contains(stay, move.From) {
			stay = append(stay, move.From)
			stuck = append(stuck, Stay{move.From, move.Pod, cmp.Or(move.of.kept, why(move.of.now))})
		}
	}
	return without(nodes, stay), stuck, nil
}

// why is what is against the nodes that a pod may not go to, or else what the scheduler
// said.
func why(pod *side.Pod) string {
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

// undo has nodes, their pods, and those that waited be put back, before anything else is
// tried.
func (m *mover) undo(nodes []string) {
	for _, node := range m.nodes {
		if !node.Unschedulable && slices.Contains(nodes, node.Name) {
			m.undone = append(m.undone, node.Name)
		}
	}
	for _, p := range m.pods {
		if p.at != p.home && (p.home == "" || slices.Contains(nodes, p.home)) {
			p.at, p.undone = p.home, true
		}
	}
}

func (m *mover) putBack(ctx context.Context) error {
	pods := slices.DeleteFunc(slices.Clone(m.pods), func(p *resident) bool { return !p.undone })
	for _, p := range pods {
		p.undone = false
		err := m.Client().CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, *metav1.NewDeleteOptions(0))
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	if err := m.make(ctx, pods, func(p *resident) string { return p.at }); err != nil {
		return err
	}
	if err := m.giveBack(ctx, pods); err != nil {
		return err
	}
	nodes := m.undone
	m.undone = nil
	return m.cordon(ctx, nodes, false)
}
