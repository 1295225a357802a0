package page

import (
	"cmp"
	"context"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
)

// watched is the cluster as the page sees it: the simulator's caches, sorted out
// by node, and told apart by a revision. It is worked out anew only when
// something has changed and somebody looks.
type watched struct {
	sim *simulator.Simulator

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	stale   bool
	last    *cluster
}

// cluster is the cluster at one moment. It is shared: nobody changes it.
type cluster struct {
	nodes   []*nodeView // by name
	byName  map[string]*nodeView
	pods    []*v1.Pod // the newest first
	waiting []*v1.Pod // those of pods that are on no node and not done
	running int
}

// nodeView is a node with what runs on it.
type nodeView struct {
	*v1.Node
	Pods        []*v1.Pod // by name
	CPU, Memory usage
}

// watch follows a simulator until ctx is done.
func watch(ctx context.Context, sim *simulator.Simulator) *watched {
	w := &watched{sim: sim, changed: make(chan struct{}), stale: true}
	changes := sim.Changes(ctx)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-changes:
				if !ok {
					return
				}
				w.touch()
			}
		}
	}()
	return w
}

func (w *watched) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stale = true
	close(w.changed)
	w.changed = make(chan struct{})
}

// next is closed at the next change.
func (w *watched) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// now returns the cluster as it is.
func (w *watched) now() (*cluster, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stale && w.last != nil {
		return w.last, nil
	}
	w.stale = false // a change from here on makes it stale again
	c, err := look(w.sim)
	if err != nil {
		return nil, err
	}
	w.last = c
	return c, nil
}

func look(sim *simulator.Simulator) (*cluster, error) {
	core := sim.Informers().Core().V1()
	nodes, err := core.Nodes().Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	pods, err := core.Pods().Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	c := &cluster{pods: pods, byName: make(map[string]*nodeView, len(nodes))}
	for _, n := range nodes {
		view := &nodeView{Node: n, CPU: capacity(n, v1.ResourceCPU), Memory: capacity(n, v1.ResourceMemory)}
		c.nodes = append(c.nodes, view)
		c.byName[n.Name] = view
	}
	slices.SortFunc(c.nodes, func(a, b *nodeView) int { return natural(a.Name, b.Name) })
	slices.SortFunc(c.pods, newestFirst)
	for _, pod := range c.pods {
		c.place(pod)
	}
	for _, n := range c.nodes {
		slices.SortFunc(n.Pods, func(a, b *v1.Pod) int { return natural(a.Name, b.Name) })
	}
	return c, nil
}

// place puts a pod on its node, or among those that wait for one.
func (c *cluster) place(pod *v1.Pod) {
	if pod.Status.Phase == v1.PodRunning {
		c.running++
	}
	if waits(pod) {
		c.waiting = append(c.waiting, pod)
		return
	}
	if n := c.byName[pod.Spec.NodeName]; n != nil {
		n.Pods = append(n.Pods, pod)
		n.CPU.Used += requested(pod, v1.ResourceCPU)
		n.Memory.Used += requested(pod, v1.ResourceMemory)
	}
}

// newestFirst orders pods by their age, and by name those of one second.
func newestFirst(a, b *v1.Pod) int {
	return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), natural(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
}
