package cluster

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	daemonutil "k8s.io/kubernetes/pkg/controller/daemon/util"
	"k8s.io/utils/ptr"
)

// DeferEvents delivers the events of a function's writes when it has returned, by kind and name: the order in which its goroutines
// have written makes no difference.
func (c *Cluster) DeferEvents(write func()) {
	c.mu.Lock()
	c.deferred = true
	c.mu.Unlock()
	write()
	c.mu.Lock()
	c.deferred = false
	slices.SortStableFunc(c.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.kind.kind.Kind, b.kind.kind.Kind), ByName(a.object(), b.object()))
	})
	c.mu.Unlock()
	c.deliver()
}

// Mapper knows the kinds that are served.
func (c *Cluster) Mapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, k := range c.kinds {
		scope := meta.RESTScopeRoot
		if k.namespaced {
			scope = meta.RESTScopeNamespace
		}
		mapper.Add(k.kind, scope)
	}
	return mapper
}

// generateName counts the objects of a generateName. Those of a DaemonSet, which are created in any order, are named after
// their nodes.
func (c *Cluster) generateName(o Object) string {
	prefix := o.GetGenerateName()
	pod, isPod := o.(*v1.Pod)
	if isPod {
		prefix += daemonNode(pod)
	}
	for {
		n := c.countOf("name of " + c.of(o).kind.Kind + " " + o.GetNamespace() + "/" + prefix)
		name := prefix + strconv.Itoa(n)
		if c.of(o).get(o.GetNamespace(), name) == nil {
			return name
		}
	}
}

// daemonNode is the node that a DaemonSet's pod is for, and a hyphen, or empty.
func daemonNode(pod *v1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "DaemonSet" {
		return ""
	}
	node, err := daemonutil.GetTargetNodeName(pod)
	if err != nil { // a file's pod need not be as the controller makes it
		return ""
	}
	return node + "-"
}

// count is how many there were of something.
type count struct {
	what string
	n    int
}

func (c *Cluster) countOf(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recording > 0 {
		c.undoNames = append(c.undoNames, count{what, c.names[what]})
	}
	c.names[what]++
	return c.names[what]
}

// notYet is the UID of an object while it is validated. A Job has it in its selector and labels.
const notYet = types.UID("not-yet")

// identify gives a new object a UID that does not depend on what else is created at the same time.
func (c *Cluster) identify(o Object) {
	name := fmt.Sprintf("UID of %s %s/%s", c.of(o).kind.Kind, o.GetNamespace(), o.GetName())
	identifyAs(o, types.UID(fmt.Sprintf("%s-%d", hashed(name), c.countOf(name)))) // short enough for a label
}

func identifyAs(o Object, uid types.UID) {
	o.SetUID(uid)
	job, ok := o.(*batchv1.Job)
	if !ok || job.Spec.Selector == nil {
		return
	}
	for _, labels := range []map[string]string{job.Spec.Selector.MatchLabels, job.Spec.Template.Labels} {
		for key, value := range labels {
			if value == string(notYet) {
				labels[key] = string(uid)
			}
		}
	}
}

func hashed(text string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text)) // which never fails
	return fmt.Sprintf("%016x", hash.Sum64())
}

func specOf(o Object) any {
	spec := reflect.ValueOf(o).Elem().FieldByName("Spec")
	if !spec.IsValid() {
		return nil
	}
	return spec.Interface()
}

// terminate begins the deletion of an object with finalizers. A kubelet ends a pod.
func (c *Cluster) terminate(o Object) {
	going := o.DeepCopyObject().(Object)
	var grace time.Duration
	pod, isPod := going.(*v1.Pod)
	if o.GetDeletionTimestamp() != nil {
		if isPod && !podutil.IsPodTerminal(pod) && !c.keeps(o) { // its node is out of service by now
			pod.Status.Phase = v1.PodFailed
			c.put(pod)
		}
		return
	}
	if isPod {
		pod.DeletionGracePeriodSeconds = ptr.To(ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, v1.DefaultTerminationGracePeriodSeconds))
		grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	}
	at := metav1.NewTime(c.now().Add(grace))
	going.SetDeletionTimestamp(&at)
	if isPod && !c.keeps(o) {
		pod.Status.Phase = v1.PodFailed
	}
	c.put(going)
}

// ordered is a table whose objects come by name while controllers run: a cache's come in the order of a map.
type ordered struct {
	cache.Indexer
	cluster *Cluster
	lists   *lists
}

// lists are the long sorted lists of a table. A controller asks for the same one again and again, and few objects are written in
// between.
type lists struct {
	mu      sync.Mutex
	all     map[[2]string]*list // by an index and its value; that of all objects has none
	written []written           // since there is any list
}

// list is as it was when so many objects were written.
type list struct {
	objects []any // are not changed any more
	written int
}

// written is an object in the place of another one. Either may be nil.
type written struct{ old, new any }

// LastStoreSyncResourceVersion is what controllers since 1.36 compare with the version of what they have written.
func (o ordered) LastStoreSyncResourceVersion() string {
	o.cluster.mu.Lock()
	defer o.cluster.mu.Unlock()
	return strconv.Itoa(o.cluster.version)
}

// Update implements cache.Store.
func (o ordered) Update(object any) error {
	old, _, _ := o.Get(object) // which has a key
	defer o.lists.note(written{old, object})
	return o.Indexer.Update(object)
}

func (o ordered) Delete(object any) error {
	defer o.lists.note(written{object, nil})
	return o.Indexer.Delete(object)
}

func (l *lists) note(w written) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const many = 1000 // after which a list is sorted as fast as it is changed
	if len(l.written) == many {
		clear(l.all)
	}
	if len(l.all) == 0 {
		l.written = nil
		return
	}
	l.written = append(l.written, w)
}

func byName(a, b any) int { return ByName(a.(Object), b.(Object)) }

// sorted is a list that is not to be changed. It is kept if it is long.
func (o ordered) sorted(key [2]string, long int, has func(any) bool, objects func() ([]any, error)) ([]any, error) {
	o.lists.mu.Lock()
	defer o.lists.mu.Unlock()
	kept := o.lists.all[key]
	if kept != nil {
		kept.objects = changed(kept.objects, o.lists.written[kept.written:], has)
		kept.written = len(o.lists.written)
		return kept.objects, nil
	}
	all, err := objects()
	slices.SortFunc(all, byName)
	if err == nil && len(all) >= long {
		o.lists.all[key] = &list{all, len(o.lists.written)}
	}
	return all, err
}

// changed is a list after some writes.
func changed(objects []any, writes []written, has func(any) bool) []any {
	own := false
	for _, w := range writes {
		was, is := w.old != nil && has(w.old), w.new != nil && has(w.new)
		if !was && !is {
			continue
		}
		if !own {
			objects, own = slices.Clone(objects), true
		}
		at, there := slices.BinarySearchFunc(objects, cmp.Or(w.new, w.old), byName)
		if there {
			objects = slices.Delete(objects, at, at+1)
		}
		if is {
			objects = slices.Insert(objects, at, w.new)
		}
	}
	return objects
}

// long is how long a list is whose objects an index has. A shorter one is sorted as fast as it is changed.
const long = 64

func (o ordered) List() []any {
	all, _ := o.sorted([2]string{}, long, func(any) bool { return true }, func() ([]any, error) { return o.Indexer.List(), nil })
	return all
}

// Index implements cache.Indexer. The objects of a namespace are looked up so: no other list is kept under its name.
func (o ordered) Index(name string, of any) ([]any, error) {
	if name == cache.NamespaceIndex {
		return o.ByIndex(name, of.(metav1.Object).GetNamespace())
	}
	all, err := o.Indexer.Index(name, of)
	slices.SortFunc(all, byName)
	return all, err
}

func (o ordered) ByIndex(name, value string) ([]any, error) {
	has := func(object any) bool {
		values, _ := o.GetIndexers()[name](object) // which fails for no object of the table
		return slices.Contains(values, value)
	}
	return o.sorted([2]string{name, value}, long, has, func() ([]any, error) { return o.Indexer.ByIndex(name, value) })
}
