package controllermanager

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/clock"
)

// eviction deletes the pods of nodes that have NoExecute taints, or are gone. Kubernetes' own controllers for it, tainteviction
// and podgc, have queues of private types and timers of their own.
type eviction struct {
	cluster *cluster.Cluster
	clock   *clock.Clock

	mu    sync.Mutex          // a plugin may write to the cluster, whose handlers are called on its goroutine then
	nodes map[string]*tainted // nodes with NoExecute taints, out of service or gone, by name
	next  time.Time           // when the next pod is to be evicted, or zero
}

// tainted is a node from which pods are evicted.
type tainted struct {
	since   time.Time // zero if it is gone
	changed bool      // next may no longer be right
	next    time.Time // when its next pod is to be evicted, or zero
}

func newEviction(c *cluster.Cluster, now *clock.Clock) (*eviction, error) {
	e := &eviction{cluster: c, clock: now, nodes: map[string]*tainted{}}
	_, err := c.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { e.podChanged(pod.(*v1.Pod)) },
		UpdateFunc: func(_, pod any) { e.podChanged(pod.(*v1.Pod)) },
	})
	_, wrong := c.Informers.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(node any) {
			e.mu.Lock()
			delete(e.nodes, node.(*v1.Node).Name)
			e.mu.Unlock()
			e.nodeChanged(&v1.Node{}, node.(*v1.Node))
		},
		UpdateFunc: func(old, node any) { e.nodeChanged(old.(*v1.Node), node.(*v1.Node)) },
		DeleteFunc: func(node any) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.nodes[node.(*v1.Node).Name] = &tainted{changed: true}
		},
	})
	return e, errors.Join(err, wrong)
}

func (e *eviction) podChanged(pod *v1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	of := e.nodes[pod.Spec.NodeName]
	if of != nil {
		of.changed = true
	}
}

func (e *eviction) nodeChanged(old, node *v1.Node) {
	if reflect.DeepEqual(old.Spec.Taints, node.Spec.Taints) && cluster.OutOfService(old) == cluster.OutOfService(node) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	of := e.nodes[node.Name]
	switch {
	case len(cluster.NoExecute(node)) == 0 && !cluster.OutOfService(node):
		delete(e.nodes, node.Name)
	case of == nil:
		e.nodes[node.Name] = &tainted{since: e.clock.Now(), changed: true}
	default:
		of.changed = true
	}
}

// evict deletes the pods that no longer tolerate the NoExecute taints of their nodes, and those of nodes that are gone or, if they
// are terminating, out of service, and says whether there were any. Budgets do not apply.
func (e *eviction) evict() (evicted bool) {
	due := e.due()
	for _, pod := range due {
		e.cluster.Disrupt(pod, "DeletionByTaintManager")
	}
	return len(due) > 0
}

// due are the pods that are to be evicted by now.
func (e *eviction) due() (due []*v1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.Now()
	e.next = time.Time{}
	for name, of := range e.nodes {
		if of.changed || !of.next.IsZero() && !of.next.After(now) {
			due = append(due, e.dueOn(name, of, now)...)
		}
		if !of.next.IsZero() && (e.next.IsZero() || of.next.Before(e.next)) {
			e.next = of.next
		}
	}
	slices.SortFunc(due, cluster.ByName)
	return due
}

func (e *eviction) dueOn(name string, of *tainted, now time.Time) (due []*v1.Pod) {
	of.changed = false
	of.next = time.Time{}
	node := cluster.Get[*v1.Node](e.cluster, "", name)
	for _, pod := range e.cluster.PodsOn(name) {
		at, ok := evictionTime(pod, node, of.since)
		switch {
		case !ok || pod.DeletionTimestamp != nil && node != nil && !cluster.OutOfService(node): // a kubelet may still end it
		case pod.DeletionTimestamp != nil && podutil.IsPodTerminal(pod): // only its finalizers keep it
		case !at.After(now):
			due = append(due, pod)
		case of.next.IsZero() || at.Before(of.next):
			of.next = at
		}
	}
	return due
}

// evictionTime is when a pod is to be evicted from its node, which has been as it is since then, or is nil if it is gone.
func evictionTime(pod *v1.Pod, node *v1.Node, since time.Time) (at time.Time, ok bool) {
	if node == nil || pod.DeletionTimestamp != nil && cluster.OutOfService(node) {
		return at, true
	}
	if pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
		return at, false
	}
	limit, always := cluster.Tolerates(pod, node)
	if always || limit == 0 {
		return at, !always
	}
	for _, later := range []*metav1.Time{&pod.CreationTimestamp, pod.Status.StartTime} {
		if later != nil && later.After(since) {
			since = later.Time
		}
	}
	return since.Add(limit), true
}
