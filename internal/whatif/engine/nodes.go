package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	taintutil "k8s.io/kubernetes/pkg/util/taints"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// AddNodes adds nodes like another. They can be scheduled to when the pods of DaemonSets have their places there.
func (e *Engine) AddNodes(ctx context.Context, like *v1.Node, names ...string) error {
	model := e.model(like)
	for _, name := range names {
		made := like.DeepCopy()
		made.Name, made.UID, made.ResourceVersion = name, "", ""
		made.Spec.ProviderID, made.Spec.PodCIDR, made.Spec.PodCIDRs = "", "", nil
		if made.Labels == nil {
			made.Labels = map[string]string{}
		}
		made.Labels[v1.LabelHostname] = name
		made.Spec.Unschedulable = true
		if _, err := e.Cluster.Create(ctx, made); err != nil {
			return fmt.Errorf("a node like %s: %w", like.Name, err)
		}
	}
	if len(e.absent) > 0 {
		e.Cluster.Unmodelled("pods on new nodes of DaemonSets that are not in the file: " + report.Few(sets.List(e.absent)))
	}
	if err := e.Run(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if err := e.publish(ctx, model, name); err != nil {
			return fmt.Errorf("a node like %s: %w", like.Name, err)
		}
		if err := e.Cluster.Cordon(name, like.Spec.Unschedulable); err != nil {
			return err
		}
	}
	return nil
}

// Suffixed is a name like another node's. It is cut where, as the value of the hostname's label, it would be too long.
func Suffixed(name, suffix string) string {
	most := max(0, validation.LabelValueMaxLength-len(suffix))
	return strings.TrimRight(name[:min(len(name), most)], "-._") + suffix
}

// model names the node of the cluster that another one is like: that of its name, or else that with most of its labels.
func (e *Engine) model(like *v1.Node) (name string) {
	if cluster.Get[*v1.Node](e.Cluster, "", like.Name) != nil || cluster.Get[*storagev1.CSINode](e.Cluster, "", like.Name) != nil {
		return like.Name
	}
	most := -1
	for _, node := range cluster.All[*v1.Node](e.Cluster) {
		same := 0
		for key, value := range like.Labels {
			if node.Labels[key] == value {
				same++
			}
		}
		if same > most {
			name, most = node.Name, same
		}
	}
	return name
}

// publish gives a new node what drivers publish of another one: their limits and their devices.
func (e *Engine) publish(ctx context.Context, model, name string) error {
	drivers := &storagev1.CSINode{} // which a kubelet makes, also without drivers
	there := cluster.Get[*storagev1.CSINode](e.Cluster, "", model)
	if there != nil {
		drivers = there.DeepCopy()
	}
	drivers.ObjectMeta = metav1.ObjectMeta{Name: name, Annotations: drivers.Annotations}
	for i := range drivers.Spec.Drivers {
		drivers.Spec.Drivers[i].NodeID = name
	}
	if _, err := e.Cluster.Create(ctx, drivers); err != nil {
		return err
	}
	for _, slice := range cluster.All[*resourcev1.ResourceSlice](e.Cluster) {
		if ptr.Deref(slice.Spec.NodeName, "") != model {
			continue
		}
		made := slice.DeepCopy()
		made.ObjectMeta = metav1.ObjectMeta{Name: name + "-" + slice.Name}
		made.Spec.NodeName = &name
		made.Spec.Pool.Name = name + strings.TrimPrefix("/"+slice.Spec.Pool.Name, "/"+model)
		if _, err := e.Cluster.Create(ctx, made); err != nil {
			return err
		}
	}
	return nil
}

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
	began := e.clock.FakeClock.Now()
	inTurn := slices.SortedFunc(maps.Keys(due), func(a, b string) int { return cmp.Or(cmp.Compare(due[a], due[b]), cmp.Compare(a, b)) })
	for _, name := range inTurn {
		if err := e.RunFor(ctx, due[name]-e.clock.FakeClock.Since(began)); err != nil {
			return err
		}
		if err := e.taintNoExecute(name); err != nil {
			return err
		}
	}
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

// RunFor runs until nothing more comes of it within some time, and then that time has passed.
func (e *Engine) RunFor(ctx context.Context, passes time.Duration) error {
	until := e.clock.FakeClock.Now().Add(max(0, passes))
	if err := e.runUntil(ctx, passes); err != nil {
		return err
	}
	e.clock.Step(max(0, until.Sub(e.clock.FakeClock.Now())))
	return nil
}

// zone are the nodes of a zone.
type zone struct {
	name   string
	nodes  int
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
		switch {
		case slices.Contains(failing, one.Name):
			zones[at].nodes++
			zones[at].failed = append(zones[at].failed, one.Name)
		case nodeutil.IsNodeReady(one) || !hasReady(one): // or the controller has tainted it before
			zones[at].nodes++
		}
	}
	for _, z := range zones {
		slices.Sort(z.failed)
	}
	return zones
}

func hasReady(one *v1.Node) bool {
	return slices.ContainsFunc(one.Status.Conditions, func(c v1.NodeCondition) bool { return c.Type == v1.NodeReady })
}

// pace is how long the node controller waits between the nodes of a zone, if it evicts any.
func (z *zone) pace(all []*zone) (between time.Duration, evicts bool) {
	failed := len(z.failed)
	switch {
	case failed == z.nodes:
		lost := func(other *zone) bool { return len(other.failed) == other.nodes }
		return betweenNodes, slices.ContainsFunc(all, func(other *zone) bool { return !lost(other) })
	case failed > 2 && float64(failed)/float64(z.nodes) >= unhealthyZone:
		return betweenInLost, z.nodes > largeZone
	}
	return betweenNodes, true
}
