package wasmhost

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// cycleView is what a guest may ask of the scheduler, or do to it, in a scheduling
// cycle. Its nodes are those of the snapshot.
type cycleView struct {
	handle fwk.Handle
	plugin string // its name
}

func (v cycleView) nodes() fwk.NodeInfoLister { return v.handle.SnapshotSharedLister().NodeInfos() }

func (v cycleView) Node(name string) (abi.Message, error) {
	if info, err := v.nodes().Get(name); err == nil && info.Node() != nil {
		return info.Node(), nil
	}
	return nil, nil
}

func (v cycleView) Nodes() (abi.Message, error) {
	infos, err := v.nodes().List()
	nodes := make([]*v1.Node, len(infos))
	for i, info := range infos {
		nodes[i] = info.Node()
	}
	return listOf(nodes), err
}

func listOf(nodes []*v1.Node) *v1.NodeList {
	list := &v1.NodeList{Items: make([]v1.Node, 0, len(nodes))}
	for _, node := range nodes {
		list.Items = append(list.Items, *node)
	}
	return list
}

func (v cycleView) ImageStates(name string) (any, error) { return imageStates(v.nodes(), name), nil }

func imageStates(nodes fwk.NodeInfoLister, name string) map[string]*fwk.ImageStateSummary {
	if info, err := nodes.Get(name); err == nil {
		return info.GetImageStates()
	}
	return nil
}

func (v cycleView) Eventf(e abi.Event) {
	v.handle.EventRecorder().Eventf(&e.RegardingReference, &e.RelatedReference, e.Eventtype, e.Reason, e.Action, "%s", e.Note)
}

func (v cycleView) RejectWaitingPod(uid string) bool {
	return v.handle.RejectWaitingPod(types.UID(uid))
}

// AllowWaitingPod is about this plugin's wait: the wait of another plugin goes on.
func (v cycleView) AllowWaitingPod(uid string) bool {
	waiting := v.handle.GetWaitingPod(types.UID(uid))
	if waiting == nil {
		return false
	}
	waiting.Allow(v.plugin)
	return true
}

func (v cycleView) WaitingPod(uid string) abi.Message {
	if waiting := v.handle.GetWaitingPod(types.UID(uid)); waiting != nil {
		return waiting.GetPod()
	}
	return nil
}

// bindingView is the same in a binding cycle. Its nodes are those of the informers:
// the next scheduling cycle renews the snapshot meanwhile, and Go ends a process that
// reads a map while it is written.
type bindingView struct {
	cycleView
	nodes corelisters.NodeLister
}

func bindingViewOf(view cycleView) abi.Scheduler {
	if nodes := nodeLister(view.handle); nodes != nil {
		return bindingView{view, nodes}
	}
	return view
}

// nodeLister is nil where there are no informers. A handle made for tests panics
// there.
func nodeLister(handle fwk.Handle) (nodes corelisters.NodeLister) {
	defer func() { _ = recover() }()
	return handle.SharedInformerFactory().Core().V1().Nodes().Lister()
}

func (v bindingView) Node(name string) (abi.Message, error) {
	if node, err := v.nodes.Get(name); err == nil {
		return node, nil
	}
	return nil, nil
}

func (v bindingView) Nodes() (abi.Message, error) {
	nodes, err := v.nodes.List(labels.Everything())
	return listOf(nodes), err
}

func (v bindingView) ImageStates(name string) (any, error) {
	nodes, err := v.nodes.List(labels.Everything())
	return imageStates(cache.NewSnapshot(nil, nodes), name), err
}
