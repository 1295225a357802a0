package answers

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"wasmkwokwizardry.io/regex-scheduling/internal/naming"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// PodValue is the value of a field of a pod, if it is there.
func PodValue(field abi.Field, pod *v1.Pod) (value string, ok bool) {
	if field.Kind == abi.Requests {
		return strconv.FormatInt(Amount(Requests(pod), field.Key), 10), true
	}
	return MetaValue(field, &pod.ObjectMeta)
}

// NodeValue is the value of a field of a node, if it is there. A field that depends on pods is not.
func NodeValue(field abi.Field, node *v1.Node) (value string, ok bool) {
	if field.Kind == abi.Allocatable {
		return strconv.FormatInt(Allocatable(field, node), 10), true
	}
	return MetaValue(field, &node.ObjectMeta)
}

// Allocatable is how much a node has of the resource of a field. A plugin can change the NodeInfo, so it is the node's.
func Allocatable(field abi.Field, node *v1.Node) int64 {
	amount := node.Status.Allocatable[v1.ResourceName(field.Key)]
	if field.Key == string(v1.ResourceCPU) {
		return amount.MilliValue()
	}
	return amount.Value()
}

// Sum is the value of a field of a node that depends on the pods there, as kube-scheduler counts them: assumed pods, and pods of a
// try-out, are among them.
func Sum(field abi.Field, info fwk.NodeInfo) int64 {
	if field.Kind == abi.Pods || field.Key == string(v1.ResourcePods) {
		return int64(len(info.GetPods()))
	}
	return Amount(info.GetRequested(), field.Key)
}

// Requests are what kube-scheduler counts of a pod: init containers, sidecars, overhead and resources of the whole pod included. Each pod
// counts for one of the resource "pods".
func Requests(pod *v1.Pod) fwk.Resource {
	requests := (&framework.PodInfo{Pod: pod}).CalculateResource().Resource
	requests.(*framework.Resource).AllowedPodNumber = 1
	return requests
}

// Counted reports whether kube-scheduler counts resources of a name.
func Counted(name string) bool {
	switch v1.ResourceName(name) {
	case v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, v1.ResourcePods:
		return true
	}
	return util.IsScalarResourceName(v1.ResourceName(name))
}

// Amount is how much there is of a resource, in thousandths of a CPU, and of others in their unit: bytes of memory.
func Amount(of fwk.Resource, name string) int64 {
	switch v1.ResourceName(name) {
	case v1.ResourceCPU:
		return of.GetMilliCPU()
	case v1.ResourceMemory:
		return of.GetMemory()
	case v1.ResourceEphemeralStorage:
		return of.GetEphemeralStorage()
	case v1.ResourcePods:
		return int64(of.GetAllowedPodNumber())
	}
	return of.GetScalarResources()[v1.ResourceName(name)]
}

// MetaValue is the value of a field of the metadata, if it is there.
func MetaValue(field abi.Field, of *metav1.ObjectMeta) (value string, ok bool) {
	switch field.Kind {
	case abi.Namespace:
		return of.Namespace, true
	case abi.Name:
		return of.Name, true
	case abi.Label:
		value, ok = of.Labels[field.Key]
	case abi.Annotation:
		value, ok = of.Annotations[field.Key]
	}
	return value, ok
}

// appendPod appends the values of a pod's fields to a key.
func appendPod(key []byte, fields []abi.Field, pod *v1.Pod) []byte {
	var requests fwk.Resource // which take 10 µs to count
	for _, field := range fields {
		if field.Kind != abi.Requests {
			value, ok := MetaValue(field, &pod.ObjectMeta)
			key = naming.AppendValue(key, value, ok)
			continue
		}
		if requests == nil {
			requests = Requests(pod)
		}
		key = appendNumber(key, Amount(requests, field.Key))
	}
	return key
}

func appendNumber(key []byte, n int64) []byte {
	var digits [20]byte
	return naming.AppendValue(key, string(strconv.AppendInt(digits[:0], n, 10)), true)
}

// appendNode appends the values of a node's fields to a key.
func appendNode(key []byte, fields []abi.Field, info fwk.NodeInfo) []byte {
	for _, field := range fields {
		if field.DependsOnPods() {
			key = appendNumber(key, Sum(field, info))
			continue
		}
		value, ok := NodeValue(field, info.Node())
		key = naming.AppendValue(key, value, ok)
	}
	return key
}
