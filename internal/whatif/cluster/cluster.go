// Package cluster is the API of a cluster in memory: what kube-scheduler reads and writes
// of one, without a server, a watch or a goroutine. When a write returns, every informer has its event, and the writes
// of controllers and kubelets that it triggers are done, too. Writes can be undone.
//
// What an API server does to an object is done by Kubernetes' own functions: defaults,
// admission, validation. What is not served fails, and is noted in [Cluster.NotModelled].
package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/registry"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// Object is an object of Kubernetes. One that was handed out or in is not changed any more.
type Object = snapshot.Object

// NameOf is the name of an object, with its namespace.
func NameOf(o Object) types.NamespacedName { return cache.MetaObjectToName(o).AsNamespacedName() }

// Cluster is a cluster in memory. Its methods, and requests to it, may come from several
// goroutines; what a write leads to is done by the goroutine that writes.
type Cluster struct {
	Client    kubernetes.Interface
	Config    *rest.Config // leads any client to this cluster
	Informers informers.SharedInformerFactory
	// Scheduling are the informers of kube-scheduler, which sees no pods that have ended.
	Scheduling informers.SharedInformerFactory
	Skipped    []string // pods that are being deleted already: they take no room here
	Inferred   []string // what a file lacks, and was made as its pods are
	// LostPods is how many new pods named a node, and were rejected by its kubelet, or are deleted at once since it is not there
	// or has a taint that they do not tolerate.
	LostPods atomic.Int64

	now       func() time.Time
	byName    map[schema.GroupVersionResource]*kind
	kinds     map[reflect.Type]*kind
	admission chain
	quotas    quota.Registry
	counted   map[string]bool // namespaces whose quotas are counted
	wanted    map[*kind]int   // pods, by the workloads that were loaded
	started   bool
	atStart   []func() // what [Cluster.Start] calls

	creating sync.Mutex // is held until a new object has its name

	mu         sync.Mutex
	changed    func(Object) // as OnChange has it
	version    int
	events     []event
	delivering bool
	deferred   bool           // by DeferEvents
	names      map[string]int // how many objects were created by a generateName, and how many UIDs were given by a name
	undo       []event
	undoNames  []count
	rejected   map[types.NamespacedName]string     // why an API server rejects objects, by rejectionKey
	injected   map[types.NamespacedName]v1.PodSpec // what admission adds to pods, by the workload
	recording  int                                 // transactions that are open
	unmodelled map[string]bool
	loading    bool // nothing follows from a write
	failed     error
}

// kind is a kind that is served.
type kind struct {
	resource   schema.GroupVersionResource
	kind       schema.GroupVersionKind
	namespaced bool
	informer   *informer
	strategies registry.Strategies
}

// event is a write: of a new object if there is no old one, and a deletion if there is no new one.
type event struct {
	kind     *kind
	old, new Object
}

// New makes an empty cluster with the time of a clock.
func New(now func() time.Time) (*Cluster, error) {
	c := &Cluster{
		now: now, byName: map[schema.GroupVersionResource]*kind{}, kinds: map[reflect.Type]*kind{},
		counted: map[string]bool{}, wanted: map[*kind]int{}, unmodelled: map[string]bool{}, names: map[string]int{}, rejected: map[types.NamespacedName]string{}, injected: map[types.NamespacedName]v1.PodSpec{},
	}
	for _, k := range snapshot.Kinds {
		c.serve(k.Example(), k.Namespaced())
	}
	for gvk, of := range scheme.Scheme.AllKnownTypes() {
		if gvk.Kind == "DeviceTaintRule" { // of which each minor has other versions
			c.serve(reflect.New(of).Interface().(Object), false)
		}
	}
	if err := c.of(&v1.PersistentVolume{}).informer.AddIndexers(cache.Indexers{byUse: useOf}); err != nil {
		return nil, err
	}
	onNode := func(o any) ([]string, error) { return []string{o.(*v1.Pod).Spec.NodeName}, nil }
	if err := c.of(&v1.Pod{}).informer.AddIndexers(cache.Indexers{byNode: onNode}); err != nil {
		return nil, err
	}
	// What goes past the transport, such as exec, finds nothing under this name.
	c.Config = &rest.Config{Host: "http://cluster-in-memory.invalid", Transport: transport{c}, QPS: -1}
	typed := rest.CopyConfig(c.Config)
	typed.ContentType = protobuf
	var err error
	if c.Client, err = kubernetes.NewForConfigAndClient(typed, &http.Client{Transport: transport{c}}); err != nil {
		return nil, err
	}
	all := registry.New(c.Client)
	for _, k := range c.byName {
		k.strategies = all[k.kind.Kind]
		if k.strategies.Object == nil {
			return nil, fmt.Errorf("no strategy is known by which an API server writes %s", k.kind)
		}
	}
	pods, nodes := c.of(&v1.Pod{}).informer, c.of(&v1.Node{}).informer
	c.Informers = c.newFactory(pods, nodes)
	c.Scheduling = c.newFactory(forScheduler{pods, running}, forScheduler{nodes, withoutNoExecute})
	c.quotas, err = c.newQuotas()
	if err != nil {
		return nil, err
	}
	c.admission, err = newAdmission(c)
	return c, err
}

func (c *Cluster) serve(example Object, namespaced bool) {
	gvks, _, err := scheme.Scheme.ObjectKinds(example)
	if err != nil {
		panic(err) // all kinds of Kubernetes are in its scheme
	}
	resource, _ := meta.UnsafeGuessKindToResource(gvks[0])
	k := &kind{resource: resource, kind: gvks[0], namespaced: namespaced, informer: c.newInformer(example, func() {})}
	c.byName[resource], c.kinds[reflect.TypeOf(example)] = k, k
}

// NotModelled are the requests that were not served, by verb and kind, and what else
// [Cluster.Unmodelled] has noted, sorted.
func (c *Cluster) NotModelled() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.unmodelled))
}

// Unmodelled takes note of something that a real cluster would have done.
func (c *Cluster) Unmodelled(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unmodelled[what] = true
}

// of is the kind of an object, which has to be served.
func (c *Cluster) of(o Object) *kind { return c.kinds[reflect.TypeOf(o)] }

// get returns what there is of a name, or nil.
func (k *kind) get(namespace, name string) Object {
	key := name
	if k.namespaced {
		key = namespace + "/" + name
	}
	found, _, _ := k.informer.table.GetByKey(key) // its keys are strings
	object, _ := found.(Object)
	return object
}

// Current is the object of the kind and the name of another one, or nil.
func (c *Cluster) Current(o Object) Object { return c.of(o).get(o.GetNamespace(), o.GetName()) }

func (k *kind) notFound(name string) error {
	return apierrors.NewNotFound(k.resource.GroupResource(), name)
}

// All are the objects of a kind, by name.
func All[T Object](c *Cluster) []T {
	return typed[T](c.kinds[reflect.TypeFor[T]()].informer.table.List())
}

// In are the objects of a kind in a namespace, by name.
func In[T Object](c *Cluster, namespace string) []T {
	all, _ := c.kinds[reflect.TypeFor[T]()].informer.table.ByIndex(cache.NamespaceIndex, namespace) // which there is
	return typed[T](all)
}

func typed[T Object](all []any) []T {
	of := make([]T, len(all))
	for i := range all {
		of[i] = all[i].(T)
	}
	return of
}

// Get is the object of a name, or the zero value.
func Get[T Object](c *Cluster, namespace, name string) (none T) {
	if found, ok := c.kinds[reflect.TypeFor[T]()].get(namespace, name).(T); ok {
		return found
	}
	return none
}

// put writes an object of which there is no other user, as it is, in place of the old one if there is one.
func (c *Cluster) put(o Object) {
	k := c.of(o)
	c.write(event{k, k.get(o.GetNamespace(), o.GetName()), o})
}

func (c *Cluster) drop(o Object) { c.write(event{c.of(o), o, nil}) }

// write changes the table, and has everybody know of it before it returns, unless it is
// called by a handler of another write's event: that event comes first.
func (c *Cluster) write(e event) {
	c.mu.Lock()
	c.apply(e)
	c.mu.Unlock()
	c.deliver()
}

// deliver has handlers called for all events, unless this is called by one of them.
func (c *Cluster) deliver() {
	c.mu.Lock()
	if c.delivering || c.deferred {
		c.mu.Unlock()
		return
	}
	c.delivering = true
	for len(c.events) > 0 {
		e := c.events[0]
		c.events = c.events[1:]
		c.mu.Unlock()
		c.tell(e)
		c.follow(e)
		c.mu.Lock()
	}
	c.events, c.delivering = nil, false
	c.mu.Unlock()
}

// apply needs the lock.
func (c *Cluster) apply(e event) {
	table := e.kind.informer.table
	c.version++
	if e.new == nil {
		_ = table.Delete(e.old) // which has a key
	} else {
		job, isJob := e.new.(*batchv1.Job)
		if isJob {
			job.Spec.ActiveDeadlineSeconds = nil // nothing runs here, so that nothing takes time
		}
		e.new.SetResourceVersion(strconv.Itoa(c.version))
		if e.new.GetUID() == "" {
			e.new.SetUID(types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", c.version)))
		}
		_ = table.Update(e.new)
	}
	c.events = append(c.events, e)
	if c.changed != nil {
		c.changed(e.object())
	}
	if c.recording > 0 {
		c.undo = append(c.undo, e)
	}
}

func (c *Cluster) tell(e event) {
	for _, r := range e.kind.informer.handlers {
		c.handle(func() {
			switch {
			case e.old == nil:
				r.handler.OnAdd(e.new, false)
			case e.new == nil:
				r.handler.OnDelete(e.old)
			default:
				r.handler.OnUpdate(e.old, e.new)
			}
		})
	}
}

// handle calls a handler. If it panics, the write goes on, though the handler may not have done all.
func (c *Cluster) handle(call func()) {
	var err error
	func() {
		defer kubescheduler.Recover(context.Background(), &err)
		call()
	}()
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.failed = cmp.Or(c.failed, err)
	}
}

// OnChange has a function be called for each write from now on, one write at a time. It must not write itself. Nil ends that.
func (c *Cluster) OnChange(changed func(Object)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = changed
}

// Version is another one after each write.
func (c *Cluster) Version() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// Err is the first panic of a handler, or nil.
func (c *Cluster) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// Try opens a transaction. What is written until rollback is called is undone by it, the
// last first, with events for all handlers; commit keeps it. Transactions nest.
func (c *Cluster) Try() (rollback, commit func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recording++
	began, named, rejected := len(c.undo), len(c.undoNames), maps.Clone(c.rejected)
	commit = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.recording--
		if c.recording == 0 {
			c.undo, c.undoNames = nil, nil
		}
	}
	return func() {
		c.rollback(began)
		c.mu.Lock()
		for _, was := range slices.Backward(c.undoNames[named:]) {
			c.names[was.what] = was.n
		}
		c.undoNames, c.rejected = c.undoNames[:named], rejected
		c.mu.Unlock()
		commit()
	}, commit
}

func (c *Cluster) rollback(began int) {
	c.mu.Lock()
	undo := slices.Clone(c.undo[began:])
	c.mu.Unlock()
	for _, e := range slices.Backward(undo) {
		for _, inverse := range e.inverse() {
			c.writeBack(inverse)
		}
	}
	c.mu.Lock()
	c.undo = c.undo[:began]
	c.mu.Unlock()
}

// inverse are the events that undo one. To kube-scheduler a pod cannot lose its node, so
// it goes and comes again.
func (e event) inverse() []event {
	var before Object
	if e.old != nil {
		before = e.old.DeepCopyObject().(Object)
	}
	if e.new == nil {
		return []event{{e.kind, nil, before}}
	}
	now := e.kind.get(e.new.GetNamespace(), e.new.GetName())
	pod, isPod := now.(*v1.Pod)
	was, ok := before.(*v1.Pod)
	if ok && isPod && was.Spec.NodeName != pod.Spec.NodeName {
		return []event{{e.kind, now, nil}, {e.kind, nil, before}}
	}
	return []event{{e.kind, now, before}}
}

// writeBack writes without anything that would follow.
func (c *Cluster) writeBack(e event) {
	c.mu.Lock()
	c.apply(e)
	c.events = c.events[:len(c.events)-1]
	c.mu.Unlock()
	c.tell(e)
	c.recountQuotas(e)
}

// stamp fills in what an API server does of an object's metadata, and a kubelet of its node: what is
// allocatable.
func (c *Cluster) stamp(o Object) {
	if o.GetName() == "" {
		o.SetName(c.generateName(o))
	}
	o.SetManagedFields(nil)
	created := o.GetCreationTimestamp()
	if created.IsZero() {
		o.SetCreationTimestamp(metav1.NewTime(c.now().Truncate(time.Second))) // the workers of a controller create objects in any order
	}
	node, ok := o.(*v1.Node)
	if ok && node.Status.Allocatable == nil {
		node.Status.Allocatable = node.Status.Capacity
	}
}
