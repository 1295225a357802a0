package wasmhost

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	guestabi "wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// visible is what a guest sees of pods and nodes.
type visible struct {
	declared  *abi.Fields // these alone, unless it is nil
	resources bool        // and all that kube-scheduler counts, where declared is nil
}

// shownPod is a pod as a guest sees it. It implements abi.Message.
type shownPod struct {
	visible
	of *v1.Pod
}

func (s *shownPod) Marshal() ([]byte, error) {
	if s.declared == nil {
		encoded, err := s.of.Marshal()
		if s.resources {
			encoded = withResources(encoded, appendAll(complete(), guestabi.ResourcesRequests, answers.Requests(s.of)))
		}
		return encoded, err
	}
	pod := &v1.Pod{ObjectMeta: declaredMeta(s.declared.Pod, &s.of.ObjectMeta)}
	var resources []byte
	for _, field := range s.declared.Pod {
		if field.Kind == abi.Requests {
			resources = appendAmount(resources, guestabi.ResourcesRequests, field.Key, answers.Amount(answers.Requests(s.of), field.Key))
		}
	}
	encoded, err := pod.Marshal()
	return withResources(encoded, resources), err
}

// shownNode is a node as a guest sees it in a scheduling cycle. It implements abi.Message.
type shownNode struct {
	visible
	of fwk.NodeInfo
}

// undeclared is the name of each node for a guest that does not declare it: some name it
// needs, to ask for its node.
const undeclared = "undeclared"

// name is the name under which the guest knows the node.
func (s *shownNode) name() string {
	named := func(field abi.Field) bool { return field.Kind == abi.Name }
	if s.declared == nil || slices.ContainsFunc(s.declared.Node, named) {
		return s.of.Node().Name
	}
	return undeclared
}

func (s *shownNode) Marshal() ([]byte, error) {
	pods := len(s.of.GetPods())
	if s.declared == nil {
		encoded, err := s.of.Node().Marshal()
		if s.resources {
			resources := appendAll(complete(), guestabi.ResourcesAllocatable, s.of.GetAllocatable())
			resources = appendAll(resources, guestabi.ResourcesRequested, s.of.GetRequested())
			resources = appendAmount(resources, guestabi.ResourcesRequested, string(v1.ResourcePods), int64(pods))
			encoded = withResources(encoded, appendNumber(resources, guestabi.ResourcesPods, uint64(pods)))
		}
		return encoded, err
	}
	node := &v1.Node{ObjectMeta: declaredMeta(s.declared.Node, &s.of.Node().ObjectMeta)}
	node.Name = s.name()
	var resources []byte
	for _, field := range s.declared.Node {
		switch field.Kind {
		case abi.Allocatable:
			resources = appendAmount(resources, guestabi.ResourcesAllocatable, field.Key, answers.Allocatable(field, s.of.Node()))
		case abi.Requested:
			resources = appendAmount(resources, guestabi.ResourcesRequested, field.Key, answers.Sum(field, s.of))
		case abi.Pods:
			resources = appendNumber(resources, guestabi.ResourcesPods, uint64(pods))
		}
	}
	encoded, err := node.Marshal()
	return withResources(encoded, resources), err
}

// withResources appends resources to an encoded pod or node, as one field more.
func withResources(object, resources []byte) []byte {
	if resources == nil {
		return object
	}
	object = protowire.AppendTag(object, guestabi.FieldResources, protowire.BytesType)
	return protowire.AppendBytes(object, resources)
}

// complete begins resources in which what is missing is zero.
func complete() []byte {
	return appendNumber(make([]byte, 0, 256), guestabi.ResourcesComplete, 1)
}

func appendNumber(resources []byte, field protowire.Number, n uint64) []byte {
	resources = protowire.AppendTag(resources, field, protowire.VarintType)
	return protowire.AppendVarint(resources, n)
}

// appendAmount appends an entry of a map.
func appendAmount(resources []byte, field protowire.Number, resource string, amount int64) []byte {
	entry := protowire.AppendTag(nil, guestabi.AmountResource, protowire.BytesType)
	entry = protowire.AppendString(entry, resource)
	entry = appendNumber(entry, guestabi.AmountValue, uint64(amount))
	resources = protowire.AppendTag(resources, field, protowire.BytesType)
	return protowire.AppendBytes(resources, entry)
}

// appendAll appends all amounts that are not zero.
func appendAll(resources []byte, field protowire.Number, of fwk.Resource) []byte {
	scalar := of.GetScalarResources()
	names := append([]v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, v1.ResourcePods}, slices.Sorted(maps.Keys(scalar))...)
	for _, name := range names {
		amount := answers.Amount(of, string(name))
		if amount != 0 {
			resources = appendAmount(resources, field, string(name), amount)
		}
	}
	return resources
}
