package wasmhost

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// informed is a scheduler whose nodes come from the informers. In the binding
// cycle the snapshot must not be read: the next scheduling cycle renews it
// meanwhile, and Go ends a process that reads a map while it is written.
type informed struct {
	scheduler
	nodes corelisters.NodeLister
}

// beside is what guests ask in the binding cycle.
func beside(handle fwk.Handle) abi.Scheduler {
	if nodes := nodeLister(handle); nodes != nil {
		return &informed{scheduler{handle}, nodes}
	}
	return &scheduler{handle}
}

// nodeLister is nil where there are no informers. A handle made for tests panics
// there.
func nodeLister(handle fwk.Handle) (nodes corelisters.NodeLister) {
	defer func() { _ = recover() }()
	return handle.SharedInformerFactory().Core().V1().Nodes().Lister()
}

// Node implements abi.Scheduler.
func (s *informed) Node(name string) abi.Message {
	if node, err := s.nodes.Get(name); err == nil {
		return node
	}
	return nil
}

// Nodes implements abi.Scheduler.
func (s *informed) Nodes() (abi.Message, error) {
	nodes, err := s.nodes.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	list := &v1.NodeList{}
	for _, node := range nodes {
		list.Items = append(list.Items, *node)
	}
	return list, nil
}

// ImageStates implements abi.Scheduler. The informers have nothing but the nodes,
// so it is counted anew who else has the images.
func (s *informed) ImageStates(name string) any {
	var states map[string]*fwk.ImageStateSummary
	node, err := s.nodes.Get(name)
	if err != nil {
		return states
	}
	states = map[string]*fwk.ImageStateSummary{}
	for image, size := range imagesOf(node) {
		states[image] = &fwk.ImageStateSummary{Size: size}
	}
	nodes, _ := s.nodes.List(labels.Everything())
	for _, other := range nodes {
		for image := range imagesOf(other) {
			if state := states[image]; state != nil {
				state.NumNodes++
			}
		}
	}
	return states
}

// imagesOf are the names of a node's images, with their sizes.
func imagesOf(node *v1.Node) map[string]int64 {
	images := map[string]int64{}
	for _, image := range node.Status.Images {
		for _, name := range image.Names {
			images[name] = image.SizeBytes
		}
	}
	return images
}
