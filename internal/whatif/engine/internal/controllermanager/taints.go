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

	mu      sync.Mutex           // a plugin may write to the cluster, whose handlers are called on its goroutine then
	since   map[string]time.Time // nodes with NoExecute taints or out of service, by name; the zero time of nodes that are gone
	changed bool                 // next may no longer be right
	next    time.Time            // when the next pod is to be evicted, or zero
}

func newEviction(c *cluster.Cluster, now *clock.Clock) (*eviction, error) {
	e := &eviction{cluster: c, clock: now, since: map[string]time.Time{}}
	_, err := c.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { e.podChanged(pod.(*v1.Pod)) },
		UpdateFunc: func(_, pod any) { e.podChanged(pod.(*v1.Pod)) },
	})
	_, wrong := c.Informers.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(node any) {
			e.mu.Lock()
			delete(e.since, node.(*v1.Node).Name)
			e.mu.Unlock()
			e.nodeChanged(&v1.Node{}, node.(*v1.Node))
		},
		UpdateFunc: func(old, node any) { e.nodeChanged(old.(*v1.Node), node.(*v1.Node)) },
		DeleteFunc: func(node any) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.since[node.(*v1.Node).Name] = time.Time{}
			e.changed = true
		},
	})
	return e, errors.Join(err, wrong)
}

func (e *eviction) podChanged(pod *v1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.since[pod.Spec.NodeName]
	e.changed = e.changed || ok
}

func (e *eviction) nodeChanged(old, node *v1.Node) {
	if reflect.DeepEqual(old.Spec.Taints, node.Spec.Taints) && cluster.OutOfService(old) == cluster.OutOfService(node) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed = true
	_, before := e.since[node.Name]
	switch {
	case len(cluster.NoExecute(node)) == 0 && !cluster.OutOfService(node):
		delete(e.since, node.Name)
	case !before:
		e.since[node.Name] = e.clock.Now()
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
	if !e.changed && (e.next.IsZero() || e.next.After(now)) {
		return nil
	}
	e.changed = false
	e.next = time.Time{}
	for name := range e.since {
		node := cluster.Get[*v1.Node](e.cluster, "", name)
		for _, pod := range e.cluster.PodsOn(name) {
			at, ok := e.evictionTime(pod, node)
			switch {
			case !ok || pod.DeletionTimestamp != nil && node != nil && !cluster.OutOfService(node): // a kubelet may still end it
			case pod.DeletionTimestamp != nil && podutil.IsPodTerminal(pod): // only its finalizers keep it
			case !at.After(now):
				due = append(due, pod)
			case e.next.IsZero() || at.Before(e.next):
				e.next = at
			}
		}
	}
	slices.SortFunc(due, cluster.ByName)
	return due
}

// evictionTime is when a pod is to be evicted from its node, which is nil if it is gone.
func (e *eviction) evictionTime(pod *v1.Pod, node *v1.Node) (at time.Time, ok bool) {
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
	since := e.since[node.Name]
	for _, later := range []*metav1.Time{&pod.CreationTimestamp, pod.Status.StartTime} {
		if later != nil && later.After(since) {
			since = later.Time
		}
	}
	return since.Add(limit), true
}
