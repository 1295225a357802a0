package compat

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/compat/scenario"
)

// handle is the scheduler around the plugin: its nodes, in the scenario's order,
// its waiting pods and its events. The plugin uses nothing else.
type handle struct {
	framework.Handle
	snapshot *cache.Snapshot
	waiting  []*v1.Pod
	notes    *scenario.Notes
}

func newHandle(s scenario.Scenario, notes *scenario.Notes) *handle {
	var nodes []*v1.Node
	for _, node := range s.Cluster.Nodes {
		nodes = append(nodes, &node)
	}
	h := &handle{snapshot: cache.NewSnapshot(nil, nodes), notes: notes}
	list, _ := h.snapshot.NodeInfos().List() // in any order
	for i, node := range nodes {
		list[i] = h.node(node.Name)
		list[i].ImageStates = make(map[string]*framework.ImageStateSummary)
		for _, image := range node.Status.Images {
			list[i].ImageStates[image.Names[0]] = &framework.ImageStateSummary{Size: image.SizeBytes, NumNodes: 1}
		}
	}
	for _, name := range s.Waiting {
		h.waiting = append(h.waiting, s.Cluster.Pod(name))
	}
	return h
}

func (h *handle) node(name string) *framework.NodeInfo {
	info, err := h.snapshot.Get(name)
	if err != nil {
		panic(err)
	}
	return info
}

// SnapshotSharedLister implements framework.Handle.
func (h *handle) SnapshotSharedLister() framework.SharedLister { return h.snapshot }

// EventRecorder implements framework.Handle.
func (h *handle) EventRecorder() events.EventRecorder { return recorder{h.notes} }

// GetWaitingPod implements framework.Handle.
func (h *handle) GetWaitingPod(uid types.UID) framework.WaitingPod {
	for _, pod := range h.waiting {
		if pod.UID == uid {
			return waitingPod{pod: pod}
		}
	}
	return nil
}

// RejectWaitingPod implements framework.Handle.
func (h *handle) RejectWaitingPod(uid types.UID) bool {
	h.notes.Add("rejects the waiting pod %s", uid)
	return h.GetWaitingPod(uid) != nil
}

type recorder struct{ *scenario.Notes }

// WithLogger implements events.EventRecorderLogger.
func (r recorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

type waitingPod struct {
	framework.WaitingPod
	pod *v1.Pod
}

// GetPod implements framework.WaitingPod.
func (w waitingPod) GetPod() *v1.Pod { return w.pod }
