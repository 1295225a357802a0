package page

import (
	"cmp"

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

// natural compares names so that node-9 comes before node-10.
func natural(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if !digit(a[i]) || !digit(b[j]) {
			if a[i] != b[j] {
				return cmp.Compare(a[i], b[j])
			}
			i, j = i+1, j+1
			continue
		}
		m, n := number(a, i), number(b, j)
		x, y := trimZeros(a[i:m]), trimZeros(b[j:n])
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
		i, j = m, n
	}
	return cmp.Or(cmp.Compare(len(a)-i, len(b)-j), cmp.Compare(a, b))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// number returns where the digits that begin at i end.
func number(s string, i int) int {
	for i < len(s) && digit(s[i]) {
		i++
	}
	return i
}

func trimZeros(s string) string {
	for len(s) > 1 && s[0] == '0' {
		s = s[1:]
	}
	return s
}
