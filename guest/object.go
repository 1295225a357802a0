package guest

import (
	"bytes"

	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

// Pod is a pod of the scheduler. Its methods read it from the host.
type Pod struct{ object }

// Node is a node of the scheduler. Its methods read it from the host. Name is cheap: the
// host sends nothing but the name.
type Node struct {
	object
	name string // of NodeNamed; CurrentNode asks the host for it
}

// CurrentPod is the pod of the scheduling cycle.
func CurrentPod() Pod { return Pod{object{readPod}} }

// TargetPod is the pod that PreFilter's extensions add or remove.
func TargetPod() Pod { return Pod{object{readTarget}} }

// CurrentNode is the node of the hook's call.
func CurrentNode() Node { return Node{object: object{readNode}} }

// NodeNamed is a node by its name, for a hook that is about several nodes: PreScore gets
// the names of nodes that passed, PostFilter of nodes that were rejected. Each method but Name
// has the host send the whole node. Where there is no such node, it has no label, no
// annotation and no UID. A guest that declares its fields (package decidesby) may ask for no
// other node than the hook's own.
func NodeNamed(name string) Node {
	return Node{object{func() []byte { return readNamed(name) }}, name}
}

// Name returns the node's name.
func (n Node) Name() string {
	if n.name != "" {
		return n.name
	}
	return string(readName())
}

// object is a pod or a node. read returns its bytes, which are valid until the next call.
type object struct{ read func() []byte }

// A node's name has at most 253 bytes, and most pods have some kilobytes.
var (
	pods, targets, nodes = make(host.Buffer, 16<<10), make(host.Buffer, 0), make(host.Buffer, 0)
	nodeName             = make(host.Buffer, 256)
)

func readPod() []byte {
	return pods.Fill(func(ptr, limit uint32) uint32 { return host.CurrentPod(ptr, limit) })
}

func readTarget() []byte {
	return targets.Fill(func(ptr, limit uint32) uint32 { return host.TargetPod(ptr, limit) })
}

func readName() []byte {
	return nodeName.Fill(func(ptr, limit uint32) uint32 { return host.CurrentNodeName(ptr, limit) })
}

func readNode() []byte {
	name := readName()
	return nodes.Fill(func(ptr, limit uint32) uint32 {
		return host.Node(host.Address(name), uint32(len(name)), ptr, limit)
	})
}

func readNamed(name string) []byte {
	return nodes.Fill(func(ptr, limit uint32) (size uint32) {
		host.Give(name, func(at, length uint32) { size = host.Node(at, length, ptr, limit) })
		return size
	})
}

// Protobuf returns the whole object in protobuf, as Unmarshal of its type in
// k8s.io/api/core/v1 reads it.
func (o object) Protobuf() []byte { return bytes.Clone(o.read()) }

// Numbers of the fields in generated.proto of k8s.io/api/core/v1 and
// k8s.io/apimachinery/pkg/apis/meta/v1.
const (
	objectMetadata = 1

	metaName        = 1
	metaNamespace   = 3
	metaUID         = 5
	metaLabels      = 11
	metaAnnotations = 12

	entryKey   = 1
	entryValue = 2
)

// What the host adds to a pod or a node, by package abi.
const (
	fieldResources = 1000

	resourcesComplete    = 1
	resourcesRequests    = 2
	resourcesAllocatable = 3
	resourcesRequested   = 4
	resourcesPods        = 5
)

// Name returns the object's name.
func (o object) Name() string { return o.text(metaName) }

// Namespace returns the object's namespace, empty for a node.
func (o object) Namespace() string { return o.text(metaNamespace) }

// UID returns the object's UID.
func (o object) UID() string { return o.text(metaUID) }

// Label returns the value of a label, and whether there is one.
func (o object) Label(key string) (value string, ok bool) { return o.entry(metaLabels, key) }

// Annotation returns the value of an annotation, and whether there is one.
func (o object) Annotation(key string) (value string, ok bool) { return o.entry(metaAnnotations, key) }

// Annotations returns the values of annotations, in the order of keys. The value of a
// missing annotation is nil. The object is read once, and the values are valid until
// the next object is read. The error means that the host sent invalid protobuf.
func (o object) Annotations(keys ...string) (values []*string, err error) {
	return entries(o.read(), metaAnnotations, keys)
}

func (o object) entry(field uint64, key string) (string, bool) {
	values, err := entries(o.read(), field, []string{key})
	if err != nil {
		panic(err)
	}
	if values[0] == nil {
		return "", false
	}
	return string(host.Bytes(*values[0])), true
}

func (o object) text(field uint64) (text string) {
	err := fields(o.read(), objectMetadata, func(metadata []byte) error {
		return fields(metadata, field, func(value []byte) error { text = string(value); return nil })
	})
	if err != nil {
		panic(err)
	}
	return text
}

// Amounts of resources are in thousandths of a CPU ("cpu"), in bytes ("memory", "ephemeral-storage"), and in units for others
// ("nvidia.com/gpu", "pods"). They are kube-scheduler's own: what NodeResourcesFit filters by. (Its scores count 100m of CPU and 200 MiB
// for a container that requests none.) Of an extended resource that dynamic resource allocation provides, a node has nothing allocatable.
//
// A guest that declares its fields (package decidesby) finds the amounts that it declares; any other finds all, if it imports package
// resources. ok is false for a resource that is not declared, without that package, of a node when the pod is bound, and in a host that
// does not count, as the upstream host does not: then the guest has to go on without.

// Requests returns how much of a resource the pod requests: kube-scheduler counts init containers, sidecars, overhead and the resources of
// the whole pod.
func (p Pod) Requests(resource string) (amount int64, ok bool) {
	return p.amount(resourcesRequests, resource)
}

// Allocatable returns how much of a resource the node has for pods.
func (n Node) Allocatable(resource string) (amount int64, ok bool) {
	return n.amount(resourcesAllocatable, resource)
}

// Requested returns how much of a resource the pods on the node request. Assumed pods, which are being bound, count; a pod that preemption
// tries to evict does not.
func (n Node) Requested(resource string) (amount int64, ok bool) {
	return n.amount(resourcesRequested, resource)
}

// Pods returns how many pods there are on the node, counted like [Node.Requested].
func (n Node) Pods() (pods int, ok bool) {
	err := fields(n.read(), fieldResources, func(resources []byte) error {
		err := numbers(resources, resourcesComplete, func(complete uint64) { ok = complete != 0 })
		if err != nil {
			return err
		}
		return numbers(resources, resourcesPods, func(value uint64) { pods, ok = int(value), true })
	})
	if err != nil {
		panic(err)
	}
	return pods, ok
}

func (o object) amount(kind uint64, resource string) (amount int64, ok bool) {
	err := fields(o.read(), fieldResources, func(resources []byte) error {
		err := numbers(resources, resourcesComplete, func(complete uint64) { ok = complete != 0 })
		if err != nil {
			return err
		}
		return fields(resources, kind, func(entry []byte) error {
			name := ""
			err := fields(entry, entryKey, func(key []byte) error { name = host.View(key); return nil })
			if err != nil || name != resource {
				return err
			}
			ok = true
			return numbers(entry, entryValue, func(value uint64) { amount = int64(value) })
		})
	})
	if err != nil {
		panic(err)
	}
	return amount, ok
}
