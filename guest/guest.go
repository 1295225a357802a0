// Package guest is a kit for guests that filter by the names of nodes: the exports that
// kube-scheduler-wasm-extension calls, and the host functions that they need.
//
// It takes the place of that project's guest SDK where the SDK is too slow. It does not
// have the other hooks of the SDK. Plain Go compiles it too, with stubs in place of the
// host functions.
package guest

// Plugin is what a guest does. The host runs one method at a time, and one
// scheduling cycle after another: PreFilter once for a pod, then Filter for
// each node.
type Plugin interface {
	// PreFilter begins a scheduling cycle.
	PreFilter(pod Pod) Status
	// Filter says why the pod may not run on a node; nil is Success. It is called
	// for each node, so it should allocate nothing, and return statuses that were made
	// before. The name is valid until Filter returns.
	Filter(nodeName string) *Status
	// EventsToRegister lists what may make a rejected pod schedulable.
	EventsToRegister() []ClusterEvent
	// DecidesBy lists all fields on which verdicts depend. It is a promise: PreFilter
	// and Filter answer by these fields alone, so the host need not ask twice.
	DecidesBy() []Field
}

// Field is a field of a pod or a node, as the downward API and CEL write it.
type Field string

// NodeName is the field of a node's name.
const NodeName Field = "node.metadata.name"

// PodAnnotation is the field of one annotation of a pod.
func PodAnnotation(key string) Field { return Field("pod.metadata.annotations['" + key + "']") }

// plugin is what the exports call.
var plugin Plugin

// Set makes p the plugin. Call it once, from main.
func Set(p Plugin) { plugin = p }

// Status is the verdict of a hook. The zero Status is Success.
type Status struct {
	Code   Code
	Reason string // for a person; Success and Skip need none
}

// Code is the code of k8s.io/kubernetes/pkg/scheduler/framework of that name.
type Code uint32

const (
	Success                      Code = 0
	Error                        Code = 1
	Unschedulable                Code = 2
	UnschedulableAndUnresolvable Code = 3
	Skip                         Code = 5
)

// ClusterEvent is an event that wakes pods which the plugin rejected.
type ClusterEvent struct {
	Resource   Resource
	ActionType ActionType
}

// Resource is the index of a kind in the host's table of resources.
type Resource uint32

const (
	PodResource  Resource = 0
	NodeResource Resource = 1
)

// ActionType holds bits of framework.ActionType as Kubernetes 1.32 numbers them.
type ActionType uint32

// An update of a pod has the bits of the fields that changed. It has UpdatePodOther
// only if no field changed that has a bit. So a guest that waits for an annotation must
// also list what can change together with it.
const (
	Add                                ActionType = 1 << 0
	UpdatePodLabel                     ActionType = 1 << 7
	UpdatePodTolerations               ActionType = 1 << 9
	UpdatePodSchedulingGatesEliminated ActionType = 1 << 10
	UpdatePodOther                     ActionType = 1 << 12
)
