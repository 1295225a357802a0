package compat

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/compat/scenario"
)

// handle is the scheduler around the plugin: its nodes, in the scenario's order,
// its waiting pods and its events. The plugin asks for nothing else.
type handle struct {
	framework.Handle
	list    []*framework.NodeInfo
	waiting []*v1.Pod
	notes   *scenario.Notes
}

func newHandle(s scenario.Scenario, notes *scenario.Notes) *handle {
	h := &handle{notes: notes}
	for _, node := range s.Cluster.Nodes {
		info := framework.NewNodeInfo()
		info.SetNode(&node)
		for _, image := range node.Status.Images {
			info.ImageStates[image.Names[0]] = &framework.ImageStateSummary{Size: image.SizeBytes, NumNodes: 1}
		}
		h.list = append(h.list, info)
	}
	for _, name := range s.Waiting {
		h.waiting = append(h.waiting, s.Cluster.Pod(name))
	}
	return h
}

func (h *handle) node(name string) *framework.NodeInfo {
	info, err := lister{h}.Get(name)
	if err != nil {
		panic(err)
	}
	return info
}

func (h *handle) nodes(names []string) []*framework.NodeInfo {
	var infos []*framework.NodeInfo
	for _, name := range names {
		infos = append(infos, h.node(name))
	}
	return infos
}

// SnapshotSharedLister implements framework.Handle.
func (h *handle) SnapshotSharedLister() framework.SharedLister { return shared{nodes: lister{h}} }

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

type shared struct {
	framework.SharedLister
	nodes lister
}

// NodeInfos implements framework.SharedLister.
func (s shared) NodeInfos() framework.NodeInfoLister { return s.nodes }

type lister struct{ *handle }

// List implements framework.NodeInfoLister.
func (l lister) List() ([]*framework.NodeInfo, error) { return l.list, nil }

// HavePodsWithAffinityList implements framework.NodeInfoLister.
func (l lister) HavePodsWithAffinityList() ([]*framework.NodeInfo, error) { return nil, nil }

// HavePodsWithRequiredAntiAffinityList implements framework.NodeInfoLister.
func (l lister) HavePodsWithRequiredAntiAffinityList() ([]*framework.NodeInfo, error) {
	return nil, nil
}

// Get implements framework.NodeInfoLister.
func (l lister) Get(name string) (*framework.NodeInfo, error) {
	for _, info := range l.list {
		if info.Node().Name == name {
			return info, nil
		}
	}
	return nil, fmt.Errorf("there is no node %q", name)
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
