package drain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/timeline"
)

// Upgrade replaces nodes one after the other: each is cordoned, emptied as by kubectl drain, and removed, and its successor
// comes. With Surge, so many nodes more come first. It ends at the first node from which a pod may not be evicted.
func Upgrade(ctx context.Context, o Options) (*Result, error) {
	worse := func(r *Result) int { return len(o.Nodes) - len(r.Go) + r.Lost() }
	r, err := o.run(ctx, "nodes that are not replaced, and pods without a node", worse, func(d *draining) error { return d.upgrade(ctx, o.Nodes) })
	if err != nil {
		return nil, err
	}
	r.Upgrade = true
	return r, nil
}

func (d *draining) upgrade(ctx context.Context, nodes []string) error {
	d.removes = true
	timeline, err := d.engine.Record()
	if err != nil {
		return err
	}
	before := d.engine.Pods()
	var surge []string
	for i := range d.options.Surge {
		surge = append(surge, d.unused("surge", fmt.Sprint("-", i+1)))
	}
	if err := d.come(ctx, timeline, cluster.Get[*v1.Node](d.engine.Cluster, "", nodes[0]), surge...); err != nil {
		return err
	}
	kept := &trial{kept: map[string]string{}}
	for i, name := range nodes {
		d.progress("replaces nodes", i, len(nodes))
		old := cluster.Get[*v1.Node](d.engine.Cluster, "", name)
		timeline.Node(name, "is cordoned")
		t, err := d.try(ctx, []string{name})
		if err != nil {
			return err
		}
		t.moves = slices.DeleteFunc(t.moves, func(m engine.Move) bool { return t.kept[m.Pod] == "" }) // pending ones stop no upgrade
		stuck := t.stuck(nil)
		if len(stuck) > 0 {
			d.found.Stay = stuck
			kept.kept = t.kept
			timeline.Node(name, "cannot be emptied: pod "+stuck[0].Pod)
			break
		}
		d.engine.Cluster.Delete(cluster.Get[*v1.Node](d.engine.Cluster, "", name))
		timeline.Node(name, "is removed")
		if err := d.come(ctx, timeline, old, d.unused(name, "-new")); err != nil {
			return err
		}
		d.found.Go = append(d.found.Go, name)
	}
	timeline.End()
	kept.describe(d, before, nodes[:min(len(nodes), len(d.found.Go)+1)])
	d.found.Moves = slices.DeleteFunc(kept.moves, func(m engine.Move) bool {
		if strings.HasPrefix(m.Workload, "DaemonSet ") { // with a pod on each node, unless it lacks one
			return m.PreemptedBy == "" && (m.To != "" || m.Reason == engine.NotRecreated)
		}
		return m.PreemptedBy == "" && strings.HasPrefix(m.Workload, cluster.OfStatic+" ")
	})
	d.found.Timeline = timeline
	return nil
}

// nodeStart is how long a new node takes until it is ready.
const nodeStart = time.Minute

// unused is a name with a suffix that no node has.
func (d *draining) unused(name, suffix string) string {
	unused := engine.Suffixed(name, suffix)
	for n := 2; cluster.Get[*v1.Node](d.engine.Cluster, "", unused) != nil; n++ {
		unused = engine.Suffixed(name, suffix+"-"+strconv.Itoa(n))
	}
	return unused
}

// come adds nodes like another, or like that of the options.
func (d *draining) come(ctx context.Context, timeline *timeline.Timeline, like *v1.Node, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	if d.options.Node != nil {
		like = d.options.Node
	}
	if err := d.engine.RunFor(ctx, nodeStart); err != nil {
		return err
	}
	for _, name := range names {
		timeline.Node(name, "is ready")
	}
	if err := d.engine.AddNodes(ctx, like, names...); err != nil {
		return err
	}
	return d.engine.Run(ctx)
}

// Fail has nodes fail at once: they are not ready, their pods are evicted when they do not tolerate that any more, and stay
// terminating, since no kubelet ends them. A pod of a StatefulSet has no successor as long as that is so.
func Fail(ctx context.Context, o Options) (*Result, error) {
	o.fail = true
	r, err := o.run(ctx, "pods without a node", (*Result).Lost, func(d *draining) error { return d.fail(ctx, o.Nodes) })
	if err != nil {
		return nil, err
	}
	r.Fail = true
	return r, nil
}

func (d *draining) fail(ctx context.Context, nodes []string) error {
	timeline, err := d.engine.Record()
	if err != nil {
		return err
	}
	before := d.engine.Pods()
	if err := d.engine.FailNodes(ctx, nodes, func(name string) { timeline.Node(name, "is not ready") }); err != nil {
		return err
	}
	timeline.End()
	d.found.Go = nodes
	on := d.affected(before, nodes)
	d.found.Moves = d.engine.Moves(before, on)
	// Pods that were evicted from these nodes before the question have successors already.
	earlier := slices.DeleteFunc(slices.Clone(d.file.Placed), func(pod *v1.Pod) bool {
		now := cluster.Get[*v1.Pod](d.engine.Cluster, pod.Namespace, pod.Name)
		return !d.evicts(pod, nodes) || !d.engine.Has(pod) || now.DeletionTimestamp == nil || slices.ContainsFunc(on, func(other *v1.Pod) bool { return other.UID == pod.UID })
	})
	d.found.Moves = append(d.found.Moves, d.engine.Moves(d.file.Only(earlier), earlier)...)
	on = append(on, earlier...)
	left := slices.DeleteFunc(cluster.All[*v1.Node](d.engine.Cluster), func(node *v1.Node) bool { return slices.Contains(nodes, node.Name) })
	for i, was := range on {
		move := &d.found.Moves[i]
		if move.To == move.From && d.engine.Has(was) {
			move.To, move.Feasible, move.Sampled = "", 0, false
			move.Reason = d.lost(was)
		}
		if move.To == "" {
			move.Reason = cmp.Or(d.outOfReach(was, left), move.Reason)
		}
	}
	slices.SortFunc(d.found.Moves, byRank(nil))
	d.found.Timeline = timeline
	return nil
}

// lost is why a pod of a failed node stays there.
func (d *draining) lost(pod *v1.Pod) string {
	node := cluster.Get[*v1.Node](d.engine.Cluster, "", pod.Spec.NodeName)
	switch {
	case !slices.ContainsFunc(node.Spec.Taints, func(t v1.Taint) bool { return t.Effect == v1.TaintEffectNoExecute }):
		return "Kubernetes evicts no pod while so many nodes are not ready"
	}
	return "it tolerates that its node is not ready"
}

// outOfReach names a volume of a pod that none of the nodes which are left can reach.
func (d *draining) outOfReach(pod *v1.Pod, left []*v1.Node) string {
	for _, of := range pod.Spec.Volumes {
		if of.PersistentVolumeClaim == nil {
			continue
		}
		claim := cluster.Get[*v1.PersistentVolumeClaim](d.engine.Cluster, pod.Namespace, of.PersistentVolumeClaim.ClaimName)
		if claim == nil {
			continue
		}
		volume := cluster.Get[*v1.PersistentVolume](d.engine.Cluster, "", claim.Spec.VolumeName)
		reached := func(node *v1.Node) bool { return volumehelpers.CheckNodeAffinity(volume, node.Labels) == nil }
		if volume != nil && !slices.ContainsFunc(left, reached) {
			return "its volume " + volume.Name + " can be reached from failed nodes only"
		}
	}
	return ""
}

// sentence is the sentence of an upgrade, or of a failure.
func (r *Result) sentence() string {
	lost := r.Lost()
	failed := report.Few(r.Go)
	if r.Zone != "" {
		failed = "zone " + r.Zone + " (" + failed + ")"
	}
	switch {
	case r.Upgrade && len(r.Stay) > 0:
		at := r.Stay[0]
		return fmt.Sprintf("The upgrade would replace %d of %s and stop at %s, which pod %s cannot leave: %s", len(r.Go), report.Plural(r.Tried, "node"), at.Node, at.Pod, at.Reason)
	case r.Upgrade && lost > 0:
		return fmt.Sprintf("The upgrade would replace all of %s, and %d of %s would have no node in the end", report.Plural(r.Tried, "node"), lost, report.Plural(len(r.Moves), "pod"))
	case r.Upgrade:
		return fmt.Sprintf("The upgrade would replace all of %s, and every pod has a node", report.Plural(r.Tried, "node"))
	case len(r.Moves) == 0:
		return fmt.Sprintf("If %s failed, no pod would have to move", failed)
	case lost > 0:
		return fmt.Sprintf("If %s failed, %d of %s would not be back", failed, lost, report.Plural(len(r.Moves), "pod"))
	}
	return fmt.Sprintf("If %s failed, all of %s would be back on other nodes", failed, report.Plural(len(r.Moves), "pod"))
}
