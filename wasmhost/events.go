package wasmhost

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
)

// resources are the kinds of objects, by the numbers that guests use.
var resources = [...]fwk.EventResource{
	fwk.Pod, fwk.Node, fwk.PersistentVolume, fwk.PersistentVolumeClaim,
	"", // PodSchedulingContext, which no cluster has any more
	fwk.ResourceClaim, fwk.StorageClass, fwk.CSINode, fwk.CSIDriver, fwk.CSIStorageCapacity, fwk.WildCard,
}

// actions are the bits of a guest's ActionType. They are the bits of Kubernetes 1.32
// and 1.33, for which guests are made; the framework has moved its own since.
var actions = [...]fwk.ActionType{
	fwk.Add,
	fwk.Delete,
	fwk.UpdateNodeAllocatable,
	fwk.UpdateNodeLabel,
	fwk.UpdateNodeTaint,
	fwk.UpdateNodeCondition,
	fwk.UpdateNodeAnnotation,
	fwk.UpdatePodLabel,
	fwk.UpdatePodScaleDown,
	fwk.UpdatePodToleration,
	fwk.UpdatePodSchedulingGatesEliminated,
	fwk.UpdatePodGeneratedResourceClaim,
	fwk.Update, // of a field that has no bit of its own
}

const (
	guestAll    = 1<<len(actions) - 1
	guestUpdate = guestAll &^ (1<<0 | 1<<1) // all but Add and Delete
)

// translate makes an event of the framework of a guest's event. The error is about what is not in the ABI, and so never
// comes: perhaps a part of the event, which has no action where nothing is left.
func translate(resource, action uint32) (event fwk.ClusterEvent, unknown error) {
	if int(resource) >= len(resources) {
		return event, fmt.Errorf("resource %d does not exist", resource)
	}
	if action == 0 || action > guestAll {
		unknown = fmt.Errorf("action type %#x for resource %d: its bits go from %#x to %#x", action, resource, 1, 1<<(len(actions)-1))
	}
	action &= guestAll
	event.Resource = resources[resource]
	switch {
	case action == guestAll:
		event.ActionType = fwk.All
		return event, unknown
	case event.Resource != fwk.Pod && event.Resource != fwk.Node && action&guestUpdate != 0:
		// For other resources the framework does not tell one update from another.
		event.ActionType = fwk.Update
	}
	for bit, translated := range actions {
		if action&(1<<bit) != 0 {
			event.ActionType |= translated
		}
	}
	return event, unknown
}

// allEvents are for a guest that names none.
var allEvents = []fwk.ClusterEvent{
	{Resource: fwk.Pod, ActionType: fwk.All},
	{Resource: fwk.Node, ActionType: fwk.All},
	{Resource: fwk.CSINode, ActionType: fwk.All},
	{Resource: fwk.PersistentVolume, ActionType: fwk.All},
	{Resource: fwk.PersistentVolumeClaim, ActionType: fwk.All},
	{Resource: fwk.StorageClass, ActionType: fwk.All},
}

// decodeEvents reads pairs of little-endian numbers: resource and action type. unknown
// says what is skipped.
func decodeEvents(encoded []byte) (events []fwk.ClusterEvent, unknown error) {
	var left []error
	for ; len(encoded) >= 8; encoded = encoded[8:] {
		event, err := translate(binary.LittleEndian.Uint32(encoded), binary.LittleEndian.Uint32(encoded[4:]))
		if err != nil {
			left = append(left, err)
		}
		if event.Resource != "" && event.ActionType != 0 {
			events = append(events, event)
		}
	}
	if len(events) == 0 {
		events = allEvents
	}
	return events, errors.Join(left...)
}

// eventsOf asks a guest for the events that may help its pods.
//
// A guest cannot give hints. Without one, what the scheduler writes into a pod's status
// when it finds no node would count as an update of the pod: the pod would be tried
// again at once, with its backoff doubled. So updates of pods get a hint.
func (g *guest) eventsOf(i *instance) ([]fwk.ClusterEventWithHint, error) {
	var encoded []byte
	if g.compiled.Active.Has(abi.Enqueue) {
		i.In = abi.In{}
		var out abi.Out
		if err := i.Call(abi.Enqueue, &out); err != nil {
			return nil, err
		}
		encoded = out.ClusterEvents
	}
	events, unknown := decodeEvents(encoded)
	if unknown != nil {
		klog.FromContext(g.ctx).Error(lineError{unknown}, "The guest waits for events that do not exist; the others wake its pods", "plugin", g.name, "guest", g.url)
	}
	hinted := make([]fwk.ClusterEventWithHint, len(events))
	for n, event := range events {
		hinted[n].Event = event
		if event.Resource == fwk.Pod {
			hinted[n].QueueingHintFn = unlessItsStatus
		}
		if g.answers != nil {
			hinted[n] = g.withHint(hinted[n])
		}
	}
	return hinted, nil
}

// unlessItsStatus wakes a pod by all events of pods, but not by a change of its own
// status alone. The scheduler ignores that too where it works without hints.
func unlessItsStatus(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	before, after, err := util.As[*v1.Pod](oldObj, newObj)
	if err != nil {
		return fwk.Queue, err
	}
	if before == nil || after == nil || after.UID != pod.UID || !reflect.DeepEqual(substance(before), substance(after)) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// substance is a pod without the fields that scheduling does not depend on. They are
// those of isPodUpdated in the scheduler's queue.
func substance(pod *v1.Pod) v1.Pod {
	s := *pod
	s.ResourceVersion, s.Generation, s.ManagedFields, s.Finalizers = "", 0, nil, nil
	s.Status = v1.PodStatus{ResourceClaimStatuses: pod.Status.ResourceClaimStatuses}
	return s
}
