package wasmhost

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// scheduler is what of the scheduler a guest may ask about, or act on.
type scheduler struct{ handle fwk.Handle }

func (s *scheduler) nodes() fwk.NodeInfoLister { return s.handle.SnapshotSharedLister().NodeInfos() }

func (s *scheduler) node(name string) fwk.NodeInfo {
	info, err := s.nodes().Get(name)
	if err != nil {
		return nil
	}
	return info
}

// Node implements abi.Scheduler.
func (s *scheduler) Node(name string) abi.Message {
	if info := s.node(name); info != nil && info.Node() != nil {
		return info.Node()
	}
	return nil
}

// Nodes implements abi.Scheduler.
func (s *scheduler) Nodes() (abi.Message, error) {
	infos, err := s.nodes().List()
	if err != nil {
		return nil, err
	}
	list := &v1.NodeList{Items: make([]v1.Node, 0, len(infos))}
	for _, info := range infos {
		list.Items = append(list.Items, *info.Node())
	}
	return list, nil
}

// ImageStates implements abi.Scheduler.
func (s *scheduler) ImageStates(name string) any {
	var states map[string]*fwk.ImageStateSummary
	if info := s.node(name); info != nil {
		states = info.GetImageStates()
	}
	return states
}

// Eventf implements abi.Scheduler.
func (s *scheduler) Eventf(e abi.Event) {
	s.handle.EventRecorder().Eventf(referenceTo(e.RegardingReference), referenceTo(e.RelatedReference),
		e.Eventtype, e.Reason, e.Action, "%s", e.Note)
}

func referenceTo(r abi.Reference) *v1.ObjectReference {
	return &v1.ObjectReference{
		Kind: r.Kind, APIVersion: r.APIVersion, Name: r.Name, Namespace: r.Namespace,
		UID: types.UID(r.UID), ResourceVersion: r.ResourceVersion,
	}
}

// RejectWaitingPod implements abi.Scheduler.
func (s *scheduler) RejectWaitingPod(uid string) bool {
	return s.handle.RejectWaitingPod(types.UID(uid))
}

// WaitingPod implements abi.Scheduler.
func (s *scheduler) WaitingPod(uid string) abi.Message {
	if waiting := s.handle.GetWaitingPod(types.UID(uid)); waiting != nil {
		return waiting.GetPod()
	}
	return nil
}

// logGuest writes what a guest logs.
func logGuest(severity int32, msg string, kvs []string) {
	values := make([]any, len(kvs))
	for i, v := range kvs {
		values[i] = v
	}
	switch {
	case severity < abi.SeverityWarning && kvs == nil:
		klog.Info(msg)
	case severity < abi.SeverityWarning:
		klog.InfoS(msg, values...)
	case severity < abi.SeverityError:
		klog.Warning(msg + inPairs(kvs)) // klog has no structured warnings
	case kvs == nil:
		klog.Error(msg) // of the severity fatal, too: no guest ends the scheduler
	default:
		klog.ErrorS(nil, msg, values...)
	}
}

// inPairs writes keys and values as klog does.
func inPairs(kvs []string) string {
	var b strings.Builder
	for pair := range slices.Chunk(kvs, 2) {
		if len(pair) == 2 {
			fmt.Fprintf(&b, " %s=%q", pair[0], pair[1])
		}
	}
	return b.String()
}

func namesOf(nodes []fwk.NodeInfo) []string {
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Node().Name
	}
	return names
}
