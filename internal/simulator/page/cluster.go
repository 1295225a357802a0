package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	nodeutil "k8s.io/kubernetes/pkg/util/node"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// cluster sorts the simulator's caches by node. It does so again only when something
// has changed and somebody looks.
type cluster struct {
	sim      *simulator.Simulator
	changes  <-chan struct{}
	compiled *regex.Cache

	mu   sync.Mutex
	last *contents
}

func newCluster(sim *simulator.Simulator, changes <-chan struct{}) *cluster {
	return &cluster{sim: sim, changes: changes, compiled: regex.NewCache(regex.Default, 4<<20)}
}

// contents is the cluster at one moment. It is shared, and does not change.
type contents struct {
	nodes   []*nodeView // by name
	byName  map[string]*nodeView
	placed  []*podView // and pods that have ended, the newest first
	pending []*podView // the newest first
	running int
}

type nodeView struct {
	*v1.Node
	Pods        []*podView // by name
	CPU, Memory usage
	Extended    []extended // by name
}

// extended is a resource such as nvidia.com/gpu, in pieces.
type extended struct {
	Name string
	usage
}

// usage is how much of a resource the pods of a node request, in millicores or bytes.
type usage struct{ Used, Of int64 }

// Percent is the requested part of the resource.
func (u usage) Percent() int64 {
	if u.Of == 0 {
		return 0
	}
	return min(100, u.Used*100/u.Of)
}

func (u usage) plus(v usage) usage { return usage{u.Used + v.Used, u.Of + v.Of} }

// Place is the node's zone and instance type, as far as its labels say.
func (n *nodeView) Place() (place []string) {
	for _, label := range []string{v1.LabelTopologyZone, v1.LabelInstanceTypeStable} {
		value := n.Labels[label]
		if value != "" {
			place = append(place, value)
		}
	}
	return place
}

// State is "ready", "not ready" or "cordoned".
func (n *nodeView) State() string {
	switch {
	case !nodeutil.IsNodeReady(n.Node):
		return "not ready"
	case n.Spec.Unschedulable:
		return "cordoned"
	}
	return "ready"
}

func (c *cluster) now() *contents {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.changes:
		c.last = nil
	default:
	}
	if c.last == nil {
		c.last = c.read()
	}
	return c.last
}

// read reads the caches, whose listers have no errors.
func (c *cluster) read() *contents {
	core := c.sim.Informers().Core().V1()
	nodes, _ := core.Nodes().Lister().List(labels.Everything())
	pods, _ := core.Pods().Lister().List(labels.Everything())
	all := &contents{byName: make(map[string]*nodeView, len(nodes))}
	for _, node := range nodes {
		view := viewOf(node)
		all.nodes = append(all.nodes, view)
		all.byName[node.Name] = view
	}
	for _, pod := range pods {
		all.add(&podView{pod, c.stateOf(pod)})
	}
	slices.SortFunc(all.nodes, func(a, b *nodeView) int { return natural(a.Name, b.Name) })
	slices.SortFunc(all.placed, newestFirst)
	slices.SortFunc(all.pending, newestFirst)
	for _, n := range all.nodes {
		slices.SortFunc(n.Pods, func(a, b *podView) int { return natural(a.Name, b.Name) })
	}
	return all
}

// viewOf is a node without pods.
func viewOf(node *v1.Node) *nodeView {
	has := node.Status.Allocatable
	view := &nodeView{Node: node, CPU: usage{Of: has.Cpu().MilliValue()}, Memory: usage{Of: has.Memory().Value()}}
	for name, quantity := range has {
		if v1helper.IsExtendedResourceName(name) && !quantity.IsZero() {
			view.Extended = append(view.Extended, extended{string(name), usage{Of: quantity.Value()}})
		}
	}
	slices.SortFunc(view.Extended, func(a, b extended) int { return cmp.Compare(a.Name, b.Name) })
	return view
}

// add puts a pod on its node, or among the pending ones. A pod that has ended requests
// nothing any more.
func (c *contents) add(pod *podView) {
	if pod.Status.Phase == v1.PodRunning {
		c.running++
	}
	if isPending(pod.Pod) {
		c.pending = append(c.pending, pod)
		return
	}
	c.placed = append(c.placed, pod)
	n := c.byName[pod.Spec.NodeName]
	if n == nil {
		return
	}
	n.Pods = append(n.Pods, pod)
	if podutil.IsPodTerminal(pod.Pod) {
		return
	}
	requested := resource.PodRequests(pod.Pod, resource.PodResourcesOptions{})
	n.CPU.Used += requested.Cpu().MilliValue()
	n.Memory.Used += requested.Memory().Value()
	for i := range n.Extended {
		n.Extended[i].Used += requested.Name(v1.ResourceName(n.Extended[i].Name), apiresource.DecimalSI).Value()
	}
}

// total is a resource of all nodes.
type total struct {
	Name, Text string
	usage
}

func (c *contents) totals() []total {
	var cpu, memory, pods usage
	for _, n := range c.nodes {
		cpu = cpu.plus(n.CPU)
		memory = memory.plus(n.Memory)
		pods = pods.plus(usage{int64(len(n.Pods)), n.Status.Allocatable.Pods().Value()})
	}
	return []total{
		{"CPU", fmt.Sprintf("%.1f of %.1f", float64(cpu.Used)/1000, float64(cpu.Of)/1000), cpu},
		{"Memory", fmt.Sprintf("%.1f of %.1f GiB", float64(memory.Used)/(1<<30), float64(memory.Of)/(1<<30)), memory},
		{"Pods", fmt.Sprintf("%d of %d", pods.Used, pods.Of), pods},
	}
}

func newestFirst(a, b *podView) int {
	newest := b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	return cmp.Or(newest, natural(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
}

// natural compares names so that node-9 comes before node-10.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := number(x), number(y)
		if m == "" || n == "" {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		i, j := strings.TrimLeft(m, "0"), strings.TrimLeft(n, "0")
		order := cmp.Or(cmp.Compare(len(i), len(j)), cmp.Compare(i, j))
		if order != 0 {
			return order
		}
		x, y = x[len(m):], y[len(n):]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// number is the number that a text begins with, or empty.
func number(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }

// betweenEvents is the least time between two events to one browser: often enough
// to look live, rarely enough to look at.
const betweenEvents = 400 * time.Millisecond

// events reports each change to the browser, by server-sent events. The browser then asks
// for what it shows.
func (p *page) events(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Time{})
	changes := p.sim.Changes(r.Context())
	for {
		_, err := fmt.Fprint(w, "event: cluster\ndata:\n\n")
		if err != nil || rc.Flush() != nil {
			return nil // the browser is gone
		}
		time.Sleep(betweenEvents)
		select {
		case <-r.Context().Done():
			return nil
		case <-changes:
		}
	}
}

// happening is an event of an object.
type happening struct {
	Time            time.Time // the last
	Reason, Message string
	Count           int32
}

// shownEvents are the newest ones.
const shownEvents = 20

// happened are the events of an object, the newest first.
func (p *page) happened(kind, namespace, name string) (all []happening) {
	events, _ := p.sim.Informers().Core().V1().Events().Lister().List(labels.Everything()) // a cache has no errors
	for _, e := range events {
		of := e.InvolvedObject
		if of.Kind != kind || of.Namespace != namespace || of.Name != name {
			continue
		}
		one := happening{e.LastTimestamp.Time, e.Reason, e.Message, max(1, e.Count)}
		if one.Time.IsZero() {
			one.Time = e.EventTime.Time
		}
		if e.Series != nil {
			one.Time, one.Count = e.Series.LastObservedTime.Time, e.Series.Count
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b happening) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Reason, b.Reason)) })
	return all[:min(len(all), shownEvents)]
}
