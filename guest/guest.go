// Package guest is a kit for guests: WebAssembly modules that decide in the
// scheduler (docs/guests.md). Go and TinyGo compile it.
//
// The packages below it are the hooks. A package exports its functions when it is
// imported, and the host calls no others. So import the hooks that you need, and set
// each in init:
//
//	func init() {
//		filter.Set(func(_ guest.Pod, node guest.Node) guest.Status { … })
//		decidesby.Set(guest.NodeLabel("disk"))
//	}
//
//	func main() {} // is not called in a library
//
// One hook runs at a time, and nothing runs in between. Package guesttest runs hooks in
// go test, without Wasm.
package guest

import (
	"bytes"

	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

// Status is the result of a hook. The zero Status is Success.
type Status struct {
	Code   Code
	Reason string // for a person; Success and Skip need none
}

// Code is the code with that name in k8s.io/kube-scheduler/framework.
type Code uint32

const (
	Success                      Code = 0
	Error                        Code = 1
	Unschedulable                Code = 2
	UnschedulableAndUnresolvable Code = 3
	Wait                         Code = 4 // permit only
	Skip                         Code = 5 // prefilter, prescore and bind only
	Pending                      Code = 6
)

// Field is a field of a pod or a node, as the downward API and CEL write it.
type Field string

const (
	PodNamespace Field = "pod.metadata.namespace"
	PodName      Field = "pod.metadata.name"
	NodeName     Field = "node.metadata.name"
)

// NodePods is the field of [Node.Pods].
const NodePods Field = "node.pods"

// PodLabel is the field of one label of a pod.
func PodLabel(key string) Field { return Field("pod.metadata.labels['" + key + "']") }

// PodAnnotation is the field of one annotation of a pod.
func PodAnnotation(key string) Field { return Field("pod.metadata.annotations['" + key + "']") }

// NodeLabel is the field of one label of a node.
func NodeLabel(key string) Field { return Field("node.metadata.labels['" + key + "']") }

// NodeAnnotation is the field of one annotation of a node.
func NodeAnnotation(key string) Field { return Field("node.metadata.annotations['" + key + "']") }

// PodRequests is the field of [Pod.Requests] of one resource.
func PodRequests(resource string) Field { return Field("pod.requests['" + resource + "']") }

// NodeAllocatable is the field of [Node.Allocatable] of one resource.
func NodeAllocatable(resource string) Field { return Field("node.allocatable['" + resource + "']") }

// NodeRequested is the field of [Node.Requested] of one resource.
func NodeRequested(resource string) Field { return Field("node.requested['" + resource + "']") }

var config = make(host.Buffer, 1<<10)

// Config returns the guestConfig of the plugin's args. It is empty if there is none.
func Config() []byte {
	return bytes.Clone(config.Fill(func(ptr, limit uint32) uint32 { return host.GetConfig(ptr, limit) }))
}

// Severity is a severity of klog.
type Severity uint32

const (
	Info    Severity = 0
	Warning Severity = 1
	Severe  Severity = 2 // klog's error
)

// Log writes a line to the scheduler's log, if the plugin's logSeverity permits it.
func Log(severity Severity, message string) {
	host.Give(message, func(ptr, size uint32) { host.Log(uint32(severity), ptr, size) })
}
