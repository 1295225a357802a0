package drain

import (
	"cmp"
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// Stay is a node that cannot go, with the first reason.
type Stay struct {
	Node   string `json:"node"`
	Pod    string `json:"pod"`    // that is left without a node, or stays terminating
	Reason string `json:"reason"` // without numbers, and so alike for many nodes
}

// batches of all nodes are the smallest ones. More take longer, and hardly find more.
const batches = 64

// Shrink finds nodes that can go together. It tries first the nodes of which least is
// requested, and undoes what fails. That is greedy: another order may do better. In the end all are cordoned at once, and drained as in [Drain].
// Of several runs, it returns the one that finds most.
func Shrink(ctx context.Context, o Options) (*Result, error) {
	found := func(r *Result) int { return len(r.Go) }
	r, err := o.run(ctx, "nodes that can go", found, func(d *draining) error { return d.shrink(ctx, o.Nodes) })
	if err != nil {
		return nil, err
	}
	r.Shrink = true
	if o.Prices != nil {
		r.addPrices(o.Cluster.Nodes, o.Prices)
	}
	return r, nil
}

func (d *draining) shrink(ctx context.Context, nodes []string) error {
	d.engine.Scheduler.NoPreemption = true
	d.removes = true
	if err := d.search(func() error { return d.find(ctx, nodes) }); err != nil {
		return err
	}
	all, err := d.untilNoneIsStuck(ctx, d.found.Go, func(ctx context.Context, all []string) (done bool, err error) {
		err = d.search(func() error { done, err = d.confirm(ctx, all); return err })
		return done, err
	})
	if err == nil {
		_, err = d.untilNoneIsStuck(ctx, all, d.confirm)
	}
	for _, node := range d.found.Go {
		if d.kept.Has(node) {
			d.found.Delete = append(d.found.Delete, node)
		}
	}
	return err
}

// untilNoneIsStuck tries nodes until it is done with all that it tries, and returns these.
func (d *draining) untilNoneIsStuck(ctx context.Context, all []string, try func(context.Context, []string) (done bool, err error)) ([]string, error) {
	for len(all) > 0 {
		d.found.Go = nil
		done, err := try(ctx, all)
		all = without(all, nodesOf(d.found.Stay))
		if done || err != nil {
			return all, err
		}
	}
	d.found.Go, d.found.Moves = []string{}, nil
	return nil, nil
}

// search drains nodes without the controllers that recreate their pods, and leaves everything but the result as it was. Nor are
// there pending pods, which would be tried again in each trial: a pod that leaves a cordoned node makes no room for them, or hardly ever.
func (d *draining) search(drain func() error) error {
	rollback, _ := d.engine.Try()
	defer rollback()
	d.hold()
	defer d.release()
	d.found.Go = nil
	return drain()
}

func (d *draining) release() {
	d.held = false
	d.engine.HoldWorkloads(false)
}

func (d *draining) hold() {
	d.held = true
	d.engine.HoldWorkloads(true)
	for _, pod := range d.engine.Cluster.PodsOn("") {
		d.engine.Cluster.Remove(pod)
	}
}

// confirm cordons all nodes that were found, and drains one after the other. One that cannot go is left as it was, and others may use it: then it leaves
// everything as it was in the end, and is not done.
func (d *draining) confirm(ctx context.Context, nodes []string) (done bool, err error) {
	rollback, commit := d.engine.Try()
	before := d.engine.Pods()
	cordoned := slices.DeleteFunc(slices.Clone(nodes), d.isCordoned)
	if err := d.cordon(cordoned, true); err != nil {
		return false, err
	}
	if err := d.engine.Run(ctx); err != nil {
		return false, err
	}
	for i, name := range nodes {
		d.progress(map[bool]string{true: "drains them together", false: "drains them with the controllers"}[d.held], i, len(nodes))
		stuck, err := d.drainOne(ctx, name)
		if err != nil {
			return false, err
		}
		if len(stuck) == 0 {
			continue
		}
		d.found.Stay = append(d.found.Stay, stuck...)
		if !slices.Contains(cordoned, name) { // or else it was so before
			continue
		}
		if err := d.cordon([]string{name}, false); err != nil {
			return false, err
		}
	}
	t := &trial{kept: map[string]string{}}
	t.describe(d, before, d.found.Go)
	stuck := t.stuck(d.found.Go)
	d.found.Stay = append(d.found.Stay, stuck...)
	if len(d.found.Go) < len(nodes) || len(stuck) > 0 {
		rollback()
		return false, nil
	}
	commit()
	d.found.Moves = t.moves
	return true, nil
}

// ofJob says whether the eviction of a pod may be a failure, which only controllers know.
func ofJob(pod *v1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "Job"
}

func (d *draining) drainWithControllers(ctx context.Context, node string) (stuck []Stay, err error) {
	d.release()
	defer d.hold()
	return d.drain(ctx, node)
}

// drainOne drains a cordoned node, or else says why it cannot go, and leaves everything as it was.
func (d *draining) drainOne(ctx context.Context, node string) (stuck []Stay, err error) {
	if d.held && slices.ContainsFunc(d.toEvict(node), ofJob) {
		return d.drainWithControllers(ctx, node)
	}
	rollback, commit := d.engine.Try()
	pods := d.toEvict(node)
	all, pending := len(cluster.All[*v1.Pod](d.engine.Cluster)), len(d.engine.Cluster.PodsOn(""))
	for _, pod := range pods {
		if !hasSuccessor(pod) {
			all--
		}
	}
	err = d.empty(ctx, &trial{kept: map[string]string{}}, pods)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(pods, toleratesCordon) && len(d.toEvict(node)) == 0 && len(cluster.All[*v1.Pod](d.engine.Cluster)) == all && len(d.engine.Cluster.PodsOn("")) <= pending {
		commit()
		d.found.Trials++
		d.found.Go = append(d.found.Go, node)
		return nil, nil
	}
	rollback()
	return d.drain(ctx, node) // which tells which pod it is that has no other node, and why
}

// toEvict are the pods that are to leave a node.
func (d *draining) toEvict(node string) []*v1.Pod {
	return slices.DeleteFunc(d.engine.Cluster.PodsOn(node), func(pod *v1.Pod) bool { return !d.evicts(pod, []string{node}) })
}

// find drains nodes batch by batch: each is twice as large as the one before as long as all can go, and half as large if one cannot.
func (d *draining) find(ctx context.Context, left []string) error {
	of := len(left)
	least := max(1, of/batches)
	for size := 1; len(left) > 0; d.progress("tries which nodes can go", len(d.found.Go)+len(d.found.Stay), of) {
		left = d.emptiestFirst(left)
		batch := left[:min(size, len(left))]
		tried, stuck, err := d.drainInTurn(ctx, batch, len(batch) <= least)
		if err != nil {
			return err
		}
		d.found.Stay = append(d.found.Stay, stuck...)
		left = without(left, tried)
		size = max(least, len(batch)/2)
		if len(tried) == len(batch) && len(stuck) == 0 {
			size = 2 * len(batch)
		}
	}
	return nil
}

// drainInTurn cordons nodes, and drains one after the other. One that cannot go is left as it was. It ends the batch, since it
// may go when fewer are cordoned, unless this is the smallest: then it is stuck.
func (d *draining) drainInTurn(ctx context.Context, nodes []string, smallest bool) (tried []string, stuck []Stay, err error) {
	cordoned := slices.DeleteFunc(slices.Clone(nodes), d.isCordoned)
	err = d.cordon(cordoned, true)
	if err == nil {
		err = d.engine.SyncControllers(ctx) // for the taints of nodes that are unschedulable
	}
	if err != nil {
		return nil, nil, err
	}
	for _, name := range nodes {
		stays, err := d.drainAlone(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		if len(stays) > 0 && !smallest {
			break
		}
		tried, stuck = append(tried, name), append(stuck, stays...)
	}
	err = d.cordon(slices.DeleteFunc(cordoned, func(name string) bool { return slices.Contains(d.found.Go, name) }), false)
	if err != nil {
		return nil, nil, err
	}
	return tried, stuck, d.engine.SyncControllers(ctx)
}

// drainAlone drains a cordoned node, or else says why it cannot go, and leaves everything as it was.
func (d *draining) drainAlone(ctx context.Context, node string) (stuck []Stay, err error) {
	pods := slices.SortedStableFunc(slices.Values(d.toEvict(node)), largestFirst) // which has no other node sooner
	if slices.ContainsFunc(pods, ofJob) {
		return d.drainWithControllers(ctx, node)
	}
	d.found.Trials++
	rollback, commit := d.engine.Try()
	stay, err := d.moveAway(ctx, node, pods)
	if err != nil {
		return nil, err
	}
	if stay != nil {
		rollback()
		return []Stay{*stay}, nil
	}
	commit()
	d.found.Go = append(d.found.Go, node)
	return nil, nil
}

// moveAway evicts pods of a node one by one, as long as each finds another node, and says which does not. What a budget keeps is tried
// again, once others are ready.
func (d *draining) moveAway(ctx context.Context, node string, pods []*v1.Pod) (*Stay, error) {
	t := &trial{kept: map[string]string{}}
	for len(pods) > 0 {
		var kept []*v1.Pod
		for _, pod := range pods {
			// 1. It is evicted.
			out, err := d.evict(ctx, t, []*v1.Pod{pod})
			if err == nil && out == 0 { // its budget may not have been counted since the last eviction
				err = d.engine.SyncBudgets(ctx)
				if err == nil {
					out, err = d.evict(ctx, t, []*v1.Pod{pod})
				}
			}
			if err != nil {
				return nil, err
			}
			if out == 0 {
				kept = append(kept, pod)
				continue
			}
			if !hasSuccessor(pod) {
				continue
			}
			// 2. Its controller is held: its successor comes from here.
			now := cluster.Get[*v1.Pod](d.engine.Cluster, pod.Namespace, pod.Name)
			if engine.Recreatable(pod) && !d.engine.Has(pod) {
				now, err = d.recreate(ctx, pod)
				if err != nil {
					return nil, err
				}
			}
			// 3. Another node is looked for.
			if err := d.engine.Scheduler.ScheduleAll(ctx); err != nil {
				return nil, err
			}
			if now != nil {
				now = cluster.Get[*v1.Pod](d.engine.Cluster, now.Namespace, now.Name)
			}
			move := d.engine.Move(pod, now)
			switch move.To {
			case "":
				return &Stay{node, move.Pod, cmp.Or(move.Against, move.Reason)}, nil
			case node:
				return &Stay{node, move.Pod, comesBack}, nil
			}
			if slices.Contains(d.found.Go, move.To) {
				return &Stay{node, move.Pod, comesToOne}, nil
			}
		}
		if len(kept) == len(pods) {
			name := cluster.NameOf(kept[0]).String()
			return &Stay{node, name, t.kept[name]}, nil
		}
		pods = kept
	}
	return nil, nil
}

func (d *draining) isCordoned(node string) bool {
	return cluster.Get[*v1.Node](d.engine.Cluster, "", node).Spec.Unschedulable
}

func (d *draining) cordon(nodes []string, unschedulable bool) error {
	for _, name := range nodes {
		if err := d.engine.Cluster.Cordon(name, unschedulable); err != nil {
			return err
		}
	}
	return nil
}

// drain drains nodes together, or else says which cannot go, and leaves everything as it was.
func (d *draining) drain(ctx context.Context, nodes ...string) (stuck []Stay, err error) {
	d.found.Trials++
	rollback, commit := d.engine.Try()
	t, err := d.try(ctx, nodes)
	if err != nil {
		return nil, err
	}
	stuck = t.stuck(d.found.Go)
	if len(stuck) > 0 {
		rollback()
		return stuck, nil
	}
	commit()
	d.found.Go = append(d.found.Go, nodes...)
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

// stuck are the nodes that could not go, with the first pod of each, when others go.
func (t *trial) stuck(going []string) (all []Stay) {
	all = slices.Clone(t.terminating)
	for _, move := range t.moves {
		stays := move.To == "" || slices.Contains(going, move.To)
		if stays && !slices.ContainsFunc(all, func(s Stay) bool { return s.Node == move.From }) {
			all = append(all, Stay{move.From, move.Pod, cmp.Or(move.Against, move.Reason, comesToOne)})
		}
	}
	return all
}

func largestFirst(a, b *v1.Pod) int {
	requests := func(pod *v1.Pod) v1.ResourceList {
		return resource.PodRequests(pod, resource.PodResourcesOptions{UseStatusResources: true})
	}
	one, other := requests(a), requests(b)
	return cmp.Or(other.Cpu().Cmp(*one.Cpu()), other.Memory().Cmp(*one.Memory()))
}

// emptiestFirst sorts by the larger share that is requested, of CPU or of memory. Nodes that are not ready come before all.
func (d *draining) emptiestFirst(nodes []string) []string {
	cpu, memory, share := map[string]int64{}, map[string]int64{}, map[string]float64{}
	for _, pod := range d.engine.Pods().Placed {
		requests := resource.PodRequests(pod, resource.PodResourcesOptions{UseStatusResources: true})
		cpu[pod.Spec.NodeName] += requests.Cpu().MilliValue()
		memory[pod.Spec.NodeName] += requests.Memory().Value()
	}
	for _, node := range cluster.All[*v1.Node](d.engine.Cluster) {
		has := node.Status.Allocatable
		share[node.Name] = max(portion(cpu[node.Name], has.Cpu().MilliValue()), portion(memory[node.Name], has.Memory().Value()))
		if slices.ContainsFunc(node.Status.Conditions, func(c v1.NodeCondition) bool { return c.Type == v1.NodeReady && c.Status != v1.ConditionTrue }) {
			share[node.Name] = -1
		}
	}
	return slices.SortedFunc(slices.Values(nodes), func(a, b string) int { return cmp.Or(cmp.Compare(share[a], share[b]), cmp.Compare(a, b)) })
}

func portion(of, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(of) / float64(all)
}
