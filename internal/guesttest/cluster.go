package guesttest

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Pod returns a pod with that pattern in its annotation.
func Pod(pattern string) *v1.Pod {
	pod := PodWithout()
	pod.Annotations = map[string]string{regex.Annotation: pattern}
	return pod
}

// PodWithout returns a pod that has no annotation.
func PodWithout() *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: types.UID("web")}}
}

// Nodes are the nodes of a cluster, as the scheduler's snapshot holds them.
type Nodes struct {
	fwk.SharedLister
	fwk.NodeInfoLister
	list   []fwk.NodeInfo
	byName map[string]fwk.NodeInfo
}

// NewNodes makes a node for each name.
func NewNodes(names ...string) *Nodes {
	nodes := &Nodes{byName: map[string]fwk.NodeInfo{}}
	for _, name := range names {
		info := framework.NewNodeInfo()
		info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		nodes.list = append(nodes.list, info)
		nodes.byName[name] = info
	}
	return nodes
}

// All are the nodes, in the order of their names as given.
func (n *Nodes) All() []fwk.NodeInfo { return n.list }

// NodeInfos implements fwk.SharedLister.
func (n *Nodes) NodeInfos() fwk.NodeInfoLister { return n }

// List implements fwk.NodeInfoLister.
func (n *Nodes) List() ([]fwk.NodeInfo, error) { return n.list, nil }

// Get implements fwk.NodeInfoLister.
func (n *Nodes) Get(name string) (fwk.NodeInfo, error) {
	if info, ok := n.byName[name]; ok {
		return info, nil
	}
	return nil, fmt.Errorf("no node %q", name)
}

// handle is as much of the scheduler as a guest may ask for: its snapshot.
type handle struct {
	fwk.Handle
	nodes *Nodes
}

// SnapshotSharedLister implements fwk.Handle.
func (h handle) SnapshotSharedLister() fwk.SharedLister { return h.nodes }
