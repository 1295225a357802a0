package cluster

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
)

// informer is a table of the cluster, seen as an informer: its store is the table itself,
// and each write calls its handlers. What it does not
// override is the lister of an informer that never runs.
type informer struct {
	minor.Synced
	idle
	table    ordered
	handlers []*registration
	cluster  *Cluster
	used     func() // called when somebody reads it or listens
}

type idle struct{ cache.SharedIndexInformer }

type registration struct {
	minor.Synced
	handler cache.ResourceEventHandler
}

func (c *Cluster) newInformer(example runtime.Object, used func()) *informer {
	return &informer{
		idle: idle{cache.NewSharedIndexInformer(&cache.ListWatch{}, example, 0, cache.Indexers{})},
		table: ordered{
			cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}), c,
			&lists{all: map[[2]string]*list{}},
		},
		cluster: c,
		used:    used,
	}
}

// AddEventHandler calls the handler with what there is, in the order in which it came, once
// the cluster has started.
func (i *informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.used()
	r := &registration{handler: handler}
	i.cluster.whenStarted(func() {
		i.handlers = append(i.handlers, r)
		for _, object := range i.sorted() {
			i.cluster.handle(func() { handler.OnAdd(object, true) })
		}
	})
	return r, nil
}

// AddEventHandlerWithResyncPeriod implements cache.SharedInformer. Nothing is resynced.
func (i *informer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

func (i *informer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

func (i *informer) GetStore() cache.Store { return i.GetIndexer() }

func (i *informer) GetIndexer() cache.Indexer {
	i.used()
	return i.table
}

func (i *informer) AddIndexers(indexers cache.Indexers) error { return i.table.AddIndexers(indexers) }

func (*informer) Run(stop <-chan struct{}) { <-stop }

func (*informer) RunWithContext(ctx context.Context) { <-ctx.Done() }

// Start has the handlers be called that were added so far, in the order in which they were.
func (c *Cluster) Start() {
	c.started = true
	for _, add := range c.atStart {
		add()
	}
}

func (c *Cluster) whenStarted(add func()) {
	if c.started {
		add()
	} else {
		c.atStart = append(c.atStart, add)
	}
}

// sorted are all objects, in the order in which they were last written.
func (i *informer) sorted() []any {
	all := i.table.Indexer.List()
	slices.SortFunc(all, func(a, b any) int {
		older, newer := a.(metav1.Object).GetResourceVersion(), b.(metav1.Object).GetResourceVersion() // numbers that the cluster has given
		return cmp.Or(cmp.Compare(len(older), len(newer)), cmp.Compare(older, newer))
	})
	return all
}

// forScheduler is an informer as kube-scheduler has it.
type forScheduler struct {
	*informer
	wrap func(cache.ResourceEventHandler) cache.ResourceEventHandler
}

func (i forScheduler) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.informer.AddEventHandler(i.wrap(handler))
}

func (i forScheduler) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

func (i forScheduler) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// running has handlers see a pod that has ended as gone.
func running(handler cache.ResourceEventHandler) cache.ResourceEventHandler {
	return cache.FilteringResourceEventHandler{FilterFunc: func(o any) bool { return !podutil.IsPodTerminal(o.(*v1.Pod)) }, Handler: handler}
}

// withoutNoExecute has handlers see no change in that a node which is tainted NoSchedule already gets the same taint as NoExecute.
// It makes room for no pod, and yet kube-scheduler would try each pending pod again, at each of the nodes that fail.
func withoutNoExecute(handler cache.ResourceEventHandler) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{AddFunc: handler.OnAdd, DeleteFunc: handler.OnDelete, UpdateFunc: func(old, now any) {
		was, node := old.(*v1.Node), now.(*v1.Node)
		in := func(taints []v1.Taint) func(v1.Taint) bool {
			return func(t v1.Taint) bool {
				return slices.ContainsFunc(taints, func(o v1.Taint) bool { return o.Key == t.Key && o.Value == t.Value && o.Effect == t.Effect })
			}
		}
		gone := slices.DeleteFunc(slices.Clone(was.Spec.Taints), in(node.Spec.Taints))
		added := slices.DeleteFunc(slices.Clone(node.Spec.Taints), in(was.Spec.Taints))
		other := func(t v1.Taint) bool {
			return t.Effect != v1.TaintEffectNoExecute || !in(was.Spec.Taints)(v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffectNoSchedule})
		}
		if len(gone) == 0 && len(added) > 0 && !slices.ContainsFunc(added, other) {
			was = was.DeepCopy()
			was.Spec.Taints = node.Spec.Taints
		}
		handler.OnUpdate(was, node)
	}}
}

// newFactory hands out the informers of the kinds that are served, those of pods and nodes as they are given. Those of all
// others are always empty, and it is noted that somebody asked.
func (c *Cluster) newFactory(pods, nodes cache.SharedIndexInformer) informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactory(c.Client, 0)
	for gvk, of := range scheme.Scheme.AllKnownTypes() {
		example, ok := reflect.New(of).Interface().(Object)
		if !ok {
			continue
		}
		used := func() { c.Unmodelled("list and watch " + gvk.GroupVersion().String() + " " + gvk.Kind) }
		if gvk.Kind == "Lease" { // nodes have none without kubelets, and their controller asks
			used = func() {}
		}
		var one cache.SharedIndexInformer = c.newInformer(example, used)
		served := c.kinds[reflect.TypeOf(example)]
		if served != nil {
			one = served.informer
		}
		if gvk.Kind == "Pod" {
			one = pods
		}
		if gvk.Kind == "Node" {
			one = nodes
		}
		factory.InformerFor(example, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return one })
	}
	return factory
}
