package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	taintutil "k8s.io/kubernetes/pkg/util/taints"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// How Kubernetes' node controller goes on with nodes of which it hears nothing, as kube-controller-manager's defaults are: its own
// loop runs by the time of the machine.
const (
	gracePeriod   = 50 * time.Second // until a node is not ready
	betweenNodes  = 10 * time.Second // of a zone, that get the taint which evicts
	betweenInLost = 100 * time.Second
	largeZone     = 50 // nodes
	unhealthyZone = 0.55
)

// FailNodes has nodes fail at once. They are not ready after a while, and then one after the other evicts its pods, in each
// zone: fewer at a time, or none, where most of a zone has failed.
func (e *Engine) FailNodes(ctx context.Context, names []string, each func(name string)) error {
	zones := e.zones(names)
	if err := e.RunFor(ctx, gracePeriod); err != nil {
		return err
	}
	for _, name := range names {
		e.Cluster.FailNode(name)
		each(name)
	}
	due := map[string]time.Duration{}
	for _, zone := range zones {
		between, evicts := zone.pace(zones)
		if !evicts {
			continue // nor does Kubernetes evict any pod there
		}
		for i, name := range zone.failed {
			due[name] = time.Duration(i) * between
		}
	}
	began := e.clock.Current()
	inTurn := slices.SortedFunc(maps.Keys(due), func(a, b string) int { return cmp.Or(cmp.Compare(due[a], due[b]), cmp.Compare(a, b)) })
	for _, name := range inTurn {
		if err := e.RunFor(ctx, due[name]-e.clock.Since(began)); err != nil {
			return err
		}
		if err := e.taintNoExecute(name); err != nil {
			return err
		}
	}
	if err := e.Run(ctx); err != nil {
		return err
	}
	e.Scheduler.RetryAll() // an evicted pod may have left room in its topology domain, of which no event says so
	return e.Run(ctx)
}

func (e *Engine) taintNoExecute(name string) error {
	changed := cluster.Get[*v1.Node](e.Cluster, "", name).DeepCopy()
	changed, _, err := taintutil.AddOrUpdateTaint(changed, &v1.Taint{Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoExecute})
	if err != nil {
		return err
	}
	return e.Cluster.Update(changed)
}

// zone are the nodes of a zone.
type zone struct {
	name   string
	nodes  int
	down   int // nodes that are not ready already
	failed []string
}

func (e *Engine) zones(failing []string) (zones []*zone) {
	for _, one := range cluster.All[*v1.Node](e.Cluster) {
		name := one.Labels[v1.LabelTopologyRegion] + "/" + one.Labels[v1.LabelTopologyZone]
		at := slices.IndexFunc(zones, func(z *zone) bool { return z.name == name })
		if at < 0 {
			at = len(zones)
			zones = append(zones, &zone{name: name})
		}
		zones[at].nodes++
		if slices.Contains(failing, one.Name) {
			zones[at].failed = append(zones[at].failed, one.Name)
		} else if !nodeutil.IsNodeReady(one) {
			zones[at].down++
		}
	}
	for _, z := range zones {
		slices.Sort(z.failed)
	}
	return zones
}

// pace is how long the node controller waits between the nodes of a zone, if it evicts any.
func (z *zone) pace(all []*zone) (between time.Duration, evicts bool) {
	failed := len(z.failed) + z.down
	switch {
	case failed == z.nodes:
		lost := func(other *zone) bool { return len(other.failed)+other.down == other.nodes }
		return betweenNodes, slices.ContainsFunc(all, func(other *zone) bool { return !lost(other) })
	case failed > 2 && float64(failed)/float64(z.nodes) >= unhealthyZone:
		return betweenInLost, z.nodes > largeZone
	}
	return betweenNodes, true
}
