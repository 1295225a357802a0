package drain

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
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
// requested, twice as many at a time as long as all can go, and undoes those trials that
// fail. That is greedy: another order may do better. In the end all go at once, as in [Drain].
// Of several runs, it returns that which finds most.
func Shrink(ctx context.Context, o Options) (*Result, error) {
	found := func(r *Result) int { return len(r.Go) }
	return o.run(ctx, "nodes that can go", found, func(d *draining) error { return d.shrink(ctx, o.Nodes) })
}

func (d *draining) shrink(ctx context.Context, nodes []string) error {
	d.Spare = true
	rollback, _ := d.Try()
	err := d.find(ctx, nodes)
	rollback()
	for all := d.Go; err == nil && len(all) > 0; all = without(all, nodesOf(d.Stay)) {
		var stuck []Stay
		d.Go = nil
		if stuck, err = d.goes(ctx, all); err == nil && len(stuck) == 0 {
			return nil
		}
		d.Stay = append(d.Stay, stuck...)
	}
	return err
}

// find has nodes go, batch by batch. Of a batch that fails, those that could go are tried
// once more, without the others.
func (d *draining) find(ctx context.Context, left []string) error {
	of, least := len(left), max(1, len(left)/batches)
	for size := 1; len(left) > 0; d.progress("tries which nodes can go", len(d.Go)+len(d.Stay), of) {
		left = d.emptiestFirst(left)
		batch := left[:min(size, len(left))]
		stuck, err := d.goes(ctx, batch)
		if err != nil {
			return err
		}
		if size *= 2; len(stuck) == 0 {
			left = without(left, batch)
			continue
		}
		if rest := without(batch, nodesOf(stuck)); len(rest) > 0 {
			also, err := d.goes(ctx, rest)
			if err != nil {
				return err
			}
			if len(also) == 0 {
				left = without(left, rest)
			}
		}
		if len(batch) <= least {
			d.Stay, left = append(d.Stay, stuck...), without(left, nodesOf(stuck))
		}
		size = max(least, len(batch)/2)
	}
	return nil
}

// goes has nodes go together, or else says which cannot, and leaves everything as it was.
func (d *draining) goes(ctx context.Context, nodes []string) (stuck []Stay, err error) {
	d.Trials++
	rollback, commit := d.Try()
	t, err := d.try(ctx, nodes)
	if err != nil {
		return nil, err
	}
	if stuck = t.stuck(); len(stuck) > 0 {
		rollback()
		return stuck, nil
	}
	commit()
	d.Go, d.Moves = append(d.Go, nodes...), t.moves
	return nil, nil
}

func without(nodes, some []string) []string {
	return slices.DeleteFunc(slices.Clone(nodes), func(node string) bool { return slices.Contains(some, node) })
}

func nodesOf(stays []Stay) (nodes []string) {
	for _, stay := range stays {
		nodes = append(nodes, stay.Node)
	}
	return nodes
}

// stuck are the nodes that could not go, with the first pod of each.
func (t *trial) stuck() (all []Stay) {
	for _, move := range t.moves {
		if move.To == "" && !slices.ContainsFunc(all, func(s Stay) bool { return s.Node == move.From }) {
			all = append(all, Stay{move.From, move.Pod, withoutNumbers(move.Reason)})
		}
	}
	return all
}

// available is how the scheduler begins to say what is against nodes.
var available, numbers = regexp.MustCompile(`^\d+/\d+ nodes are available: (.*)$`), regexp.MustCompile(`^\d+ `)

const cordoned = "node(s) were unschedulable"

// withoutNumbers are the scheduler's reasons, but for that nodes are cordoned, which they
// are by the trial. Other reasons stay as they are.
func withoutNumbers(reason string) string {
	said := available.FindStringSubmatch(reason)
	if said == nil {
		return reason
	}
	text, _, _ := strings.Cut(said[1], ". ")
	var all []string
	for _, one := range strings.Split(strings.TrimSuffix(text, "."), ", ") {
		if one = numbers.ReplaceAllString(one, ""); one != cordoned && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	slices.Sort(all)
	return cmp.Or(strings.Join(all, ", "), cordoned)
}

// emptiestFirst sorts by the larger share that is requested, of CPU or of memory.
func (d *draining) emptiestFirst(nodes []string) []string {
	cpu, memory, share := map[string]int64{}, map[string]int64{}, map[string]float64{}
	for _, pod := range d.Residents() {
		requests := resource.PodRequests(pod, resource.PodResourcesOptions{UseStatusResources: true})
		cpu[pod.Spec.NodeName] += requests.Cpu().MilliValue()
		memory[pod.Spec.NodeName] += requests.Memory().Value()
	}
	for _, node := range cluster.All[*v1.Node](d.Cluster) {
		has := node.Status.Allocatable
		share[node.Name] = max(portion(cpu[node.Name], has.Cpu().MilliValue()), portion(memory[node.Name], has.Memory().Value()))
	}
	return slices.SortedFunc(slices.Values(nodes), func(a, b string) int { return cmp.Or(cmp.Compare(share[a], share[b]), cmp.Compare(a, b)) })
}

func portion(of, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(of) / float64(all)
}
