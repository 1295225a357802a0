package wasmhost

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

func namesOf(nodes []fwk.NodeInfo) []string {
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Node().Name
	}
	return names
}

// codesOf are the codes of the nodes that have a status of their own. The interface does
// not list them, but the framework's type does.
func codesOf(nodes fwk.NodeToStatusReader) map[string]int {
	codes := map[string]int{}
	explicit, ok := nodes.(interface {
		ForEachExplicitNode(func(string, *fwk.Status))
	})
	if !ok {
		return codes
	}
	explicit.ForEachExplicitNode(func(node string, status *fwk.Status) {
		if status != nil {
			codes[node] = int(status.Code())
		}
	})
	return codes
}

// cycleView is what a guest may ask of the scheduler, or do to it, in a scheduling
// cycle. Its nodes are the snapshot's.
type cycleView struct {
	handle  fwk.Handle
	plugin  string  // its name
	visible visible // to the guest
}

func (v cycleView) nodes() fwk.NodeInfoLister { return v.handle.SnapshotSharedLister().NodeInfos() }

func (v cycleView) Node(name string) (abi.Message, error) {
	info, err := v.nodes().Get(name)
	if err == nil && info.Node() != nil {
		return &shownNode{v.visible, info}, nil
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
	waiting := v.handle.GetWaitingPod(types.UID(uid))
	if waiting != nil {
		return waiting.GetPod()
	}
	return nil
}

// bindingView is the same in a binding cycle. Its nodes are the informers':
// the next scheduling cycle renews the snapshot meanwhile, and Go ends a process that
// reads a map while it is written.
type bindingView struct{ cycleView }

func (v bindingView) nodes() corelisters.NodeLister {
	return v.handle.SharedInformerFactory().Core().V1().Nodes().Lister()
}

func (v bindingView) Node(name string) (abi.Message, error) {
	if node, err := v.nodes().Get(name); err == nil {
		return node, nil
	}
	return nil, nil
}

func (v bindingView) Nodes() (abi.Message, error) {
	nodes, err := v.nodes().List(labels.Everything())
	return listOf(nodes), err
}

func (v bindingView) ImageStates(name string) (any, error) {
	nodes, err := v.nodes().List(labels.Everything())
	return imageStates(cache.NewSnapshot(nil, nodes), name), err
}

// A guest whose answers are remembered sees nothing but the fields that it declares, or they
// would depend on more than they are remembered by.

// declaredMeta is an object's metadata with the declared fields alone.
func declaredMeta(fields []abi.Field, of *metav1.ObjectMeta) (declared metav1.ObjectMeta) {
	for _, field := range fields {
		value, ok := answers.MetaValue(field, of)
		if !ok {
			continue
		}
		switch field.Kind {
		case abi.Namespace:
			declared.Namespace = value
		case abi.Name:
			declared.Name = value
		case abi.Label:
			metav1.SetMetaDataLabel(&declared, field.Key, value)
		case abi.Annotation:
			metav1.SetMetaDataAnnotation(&declared, field.Key, value)
		}
	}
	return declared
}

// nothingElse is what a guest may ask of the scheduler beside its pod and its node. It imports no
// function of the handle.
type nothingElse struct{ abi.NoScheduler }

func (nothingElse) Node(name string) (abi.Message, error) {
	return nil, refused("k8s.io/api node", fmt.Sprintf("the node %q", name))
}

func (nothingElse) Nodes() (abi.Message, error) {
	return nil, refused("k8s.io/api nodeList", "all nodes")
}

func (nothingElse) ImageStates(string) (any, error) {
	return nil, refused("k8s.io/scheduler nodeImageStates", "images on nodes")
}

func refused(function, what string) error {
	return fmt.Errorf("%s: the guest declares what it decides by (decides_by), and so sees the declared fields of its pod and its node alone, not %s; "+
		"without decides_by it sees all, and nothing is remembered", function, what)
}
