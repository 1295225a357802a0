// Package snapshot has nodes as the scheduler's plugins see them.
package snapshot

import (
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Handle is a handle of the scheduler that has its snapshot alone. Every other method panics.
type Handle struct {
	fwk.Handle
	// Nodes are in the order in which they were given, as in the snapshot.
	Nodes    []fwk.NodeInfo
	snapshot *cache.Snapshot
}

// Of makes a snapshot of nodes, without pods.
func Of(nodes ...*v1.Node) *Handle {
	h := &Handle{snapshot: cache.NewSnapshot(nil, nodes)}
	for _, node := range nodes {
		info, err := h.snapshot.Get(node.Name)
		if err != nil {
			panic(err) // it was given
		}
		h.Nodes = append(h.Nodes, info)
	}
	list, _ := h.snapshot.NodeInfos().List()
	copy(list, h.Nodes) // the snapshot has them in any order
	return h
}

// PodInfo is a pod as the scheduler's plugins see it. It panics at a pod whose affinity is not valid.
func PodInfo(pod *v1.Pod) fwk.PodInfo {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		panic(err)
	}
	return info
}

// SnapshotSharedLister implements fwk.Handle.
func (h *Handle) SnapshotSharedLister() fwk.SharedLister { return h.snapshot }
