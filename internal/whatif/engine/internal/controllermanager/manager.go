// Package controllermanager runs Kubernetes' controllers over a cluster in memory, as kube-controller-manager does over a real
// one, but one key after the other on the caller's goroutine, and by a clock that only the caller moves.
package controllermanager

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/controllers"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/clock"
)

// Manager has the controllers of a cluster. Use it from one goroutine.
type Manager struct {
	cluster  *cluster.Cluster
	clock    *clock.Clock
	queues   []*queue   // in the order in which they are synced
	own      []ownQueue // come after them
	budgets  []*queue   // of queues, those of the disruption controller
	nodes    []*queue   // of queues, those of the node controller
	eviction *eviction
	cancel   context.CancelFunc // ends what controllers start when they are made

	held    bool           // only the queues of nodes are synced
	changes map[string]int // how often a workload or a node has changed since RecordChanges
	most    int            // nodes and pods that maxSyncs has counted in this run
}

// New makes controllers, and the disruption and the node controller. They see what is in the cluster when it starts. It fails if
// a controller is not as this package knows it.
func New(ctx context.Context, c *cluster.Cluster, now *clock.Clock, workloads []controllers.Controller) (_ *Manager, err error) {
	m := &Manager{cluster: c, clock: now, changes: map[string]int{}}
	ctx, m.cancel = context.WithCancel(klog.NewContext(ctx, klog.New(nil)))
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	m.eviction, err = newEviction(c, now)
	if err != nil {
		return nil, err
	}
	access := controllers.Access{Client: c.Client, Shared: c.Informers, Pods: c.PodsBySelector(), Mapper: c.Mapper()}
	access.Scales, err = scale.NewForConfig(c.Config, access.Mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(access.Client.Discovery()))
	if err != nil {
		return nil, err
	}
	for _, one := range slices.Concat(workloads, []controllers.Controller{controllers.Disruption, controllers.NodeLifecycle}) {
		made, err := one.Make(ctx, access)
		var taken taken
		if err == nil {
			taken, err = take(one.Name, made, now)
		}
		if err != nil {
			return nil, fmt.Errorf("controller %s: %w", one.Name, err)
		}
		m.queues = append(m.queues, taken.queues...)
		m.own = append(m.own, taken.own...)
		switch one.Name {
		case controllers.Disruption.Name:
			m.budgets = taken.queues
		case controllers.NodeLifecycle.Name:
			m.nodes = taken.queues
		}
	}
	return m, nil
}

// Close ends the controllers.
func (m *Manager) Close() {
	m.cancel()
	for _, own := range m.own {
		own.workqueue.ShutDown()
	}
}

// Hold has all controllers but that of nodes do nothing, or go on.
func (m *Manager) Hold(hold bool) { m.held = hold }

// Sync has the controllers work until none of them has a key left, and says whether any had one.
func (m *Manager) Sync(ctx context.Context) (synced bool, err error) {
	if m.held {
		return m.sync(ctx, m.nodes, nil)
	}
	return m.sync(ctx, m.queues, m.own)
}

// SyncBudgets has the controller of budgets do so.
func (m *Manager) SyncBudgets(ctx context.Context) error {
	_, err := m.sync(ctx, m.budgets, nil)
	return err
}

func (m *Manager) sync(ctx context.Context, queues []*queue, own []ownQueue) (synced bool, err error) {
	for again := true; again; {
		again = false
		for _, q := range queues {
			for key, syncs, ok := q.next(); ok; key, syncs, ok = q.next() {
				if ctx.Err() != nil {
					return synced, context.Cause(ctx)
				}
				if syncs%minSyncs == 0 && syncs >= m.maxSyncs() || q.losing[key]+1 >= maxLosing {
					q.block(key)
				}
				version, lost := m.cluster.Version(), m.cluster.LostPods.Load()
				m.cluster.DeferEvents(func() { q.worker(ctx) })
				if m.cluster.Version() != version {
					q.changed(key)
				}
				if m.cluster.LostPods.Load() != lost {
					q.losing[key]++
				}
				again = true
			}
		}
		for _, o := range own {
			for o.workqueue.Len() > 0 {
				if ctx.Err() != nil {
					return synced, context.Cause(ctx)
				}
				m.cluster.DeferEvents(func() { o.syncNext(ctx) })
				again = true
			}
		}
		synced = synced || again
		err := m.cluster.Err()
		if err != nil {
			return synced, err
		}
	}
	return synced, nil
}

// minSyncs and syncsOfAPod bound the syncs of a key without a step of the clock. A rollout of one pod after the other takes three to five
// for each, and a budget is synced for each pod that is preempted.
const (
	minSyncs    = 1000
	syncsOfAPod = 20
)

// maxLosing is how many syncs of a key without a step of the clock may create pods that name a node, and are lost at once.
// A ReplicaSet creates others at once, and would do so without an end.
const maxLosing = 10

// maxSyncs of a key are a loop that does not end. Pods that have ended do not count, but those do that were deleted since: a StatefulSet is scaled down in order.
func (m *Manager) maxSyncs() int {
	running := len(cluster.All[*v1.Node](m.cluster))
	for _, pod := range cluster.All[*v1.Pod](m.cluster) {
		if !podutil.IsPodTerminal(pod) {
			running++
		}
	}
	m.most = max(m.most, running)
	return minSyncs + syncsOfAPod*m.most
}

// EvictTainted deletes pods as Kubernetes' controllers tainteviction and podgc do.
func (m *Manager) EvictTainted() { m.eviction.evict() }

// BeginRun has controllers try again at once what has failed, since something has changed.
func (m *Manager) BeginRun() {
	for _, q := range m.queues {
		q.beginRun()
	}
	clear(m.changes)
	m.most = 0
}

// Advance moves the clock to the time when the first key is due, or a pod is to be evicted, if that is not after until. Pods that are to
// be evicted now, which controllers have just created, are so without that.
func (m *Manager) Advance(until time.Time) bool {
	if m.eviction.evict() {
		return true
	}
	first := m.eviction.next
	queues := m.queues
	if m.held {
		queues = m.nodes
	}
	for _, q := range queues {
		at := q.due()
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() || first.After(until) {
		return false
	}
	now := m.clock.Current()
	if first.After(now) {
		m.clock.Step(first.Sub(now))
	}
	for _, q := range queues {
		q.addDue(first)
	}
	return true
}

// RecordChanges is called for each object that is written at the end of a run: workloads and nodes that still change then may never
// stop changing.
func (m *Manager) RecordChanges(o cluster.Object) {
	pod, ok := o.(*v1.Pod)
	if !ok || o.GetDeletionTimestamp() != nil {
		return
	}
	m.changes[cmp.Or(m.cluster.WorkloadName(pod), "Pod "+cluster.NameOf(pod).String())]++
	if pod.Spec.NodeName != "" {
		m.changes["Node "+pod.Spec.NodeName]++
	}
}

// Unfinished names keys that controllers have abandoned, or synced without an end, and what still changed at the horizon at which the last run ended.
func (m *Manager) Unfinished(horizon time.Duration) (all []string) {
	for _, q := range m.queues {
		name, _, _ := strings.Cut(q.name, ".")
		if len(q.abandoned) > 0 {
			all = append(all, fmt.Sprintf("%s at %s, since further looks change nothing", name, report.Few(slices.Sorted(maps.Keys(q.abandoned)))))
		}
		if len(q.endless) > 0 {
			all = append(all, fmt.Sprintf("%s at %s, since it changed something again and again", name, report.Few(slices.Sorted(maps.Keys(q.endless)))))
		}
	}
	const often = 4 // writes
	maps.DeleteFunc(m.changes, func(_ string, times int) bool { return times < often })
	if len(m.changes) == 0 {
		return all
	}
	return append(all, fmt.Sprintf("after %s, when %s still changed", horizon, report.Few(slices.Sorted(maps.Keys(m.changes)))))
}
