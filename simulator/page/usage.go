package page

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// usage is how much of a resource the pods of a node have asked for, in
// thousandths of its unit for CPU, in bytes for memory.
type usage struct {
	Used, Of int64
}

// Percent is how much of it is taken.
func (u usage) Percent() int64 {
	if u.Of == 0 {
		return 0
	}
	return min(100, u.Used*100/u.Of)
}

func amount(name v1.ResourceName, q resource.Quantity) int64 {
	if name == v1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

func capacity(n *v1.Node, name v1.ResourceName) usage {
	return usage{Of: amount(name, n.Status.Allocatable[name])}
}

func requested(pod *v1.Pod, name v1.ResourceName) (sum int64) {
	for i := range pod.Spec.Containers {
		if q, ok := pod.Spec.Containers[i].Resources.Requests[name]; ok {
			sum += amount(name, q)
		}
	}
	return sum
}
