package wasmhost

import (
	"encoding/binary"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	guestabi "wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// The numbers on the left are the ABI's; how the framework numbers its own is its
// affair.
func TestActionTypesAreTranslated(t *testing.T) {
	tests := []struct {
		name     string
		resource uint32
		action   uint32
		want     fwk.ClusterEvent
	}{
		{"anything else of a pod", 0, 1 << 12, fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update}},
		{"any update of a pod", 0, 1<<13 - 4, fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update}},
		{"all of a node", 1, 1<<13 - 1, fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.All}},
		{"all of all", 10, 1<<13 - 1, fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All}},
		{"what older SDKs call all of a node", 1, 1<<6 - 1, fwk.ClusterEvent{
			Resource: fwk.Node, ActionType: fwk.Add | fwk.Delete | fwk.UpdateNodeAllocatable | fwk.UpdateNodeLabel | fwk.UpdateNodeTaint | fwk.UpdateNodeCondition,
		}},
		{"a volume has but one kind of update", 2, 1 << 2, fwk.ClusterEvent{Resource: fwk.PersistentVolume, ActionType: fwk.Update}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := translate(tt.resource, tt.action)
			testkit.Must(t, err)
			testkit.Equal(t, got, tt.want, "the event")
		})
	}
}

func TestEventsAreNumberedAsInTheABI(t *testing.T) {
	for bit, name := range guestabi.Actions[:len(guestabi.Actions)-1] { // the last is of the ABI alone
		resource := map[bool]uint32{true: 1}[strings.Contains(name, "Node")] // or 0, a pod
		event, err := translate(resource, 1<<bit)
		testkit.Must(t, err)
		testkit.Equal(t, event.ActionType.String(), strings.Replace(name, "Tolerations", "Toleration", 1), "bit %d", bit)
	}
	for number, resource := range resources {
		name := guestabi.Resources[number]
		if string(resource) != name && resource != "" && resource != fwk.WildCard && !strings.HasSuffix(string(resource), "/"+name) {
			t.Errorf("resource %d is %q, and in the ABI %q", number, resource, name)
		}
	}
	if len(resources) != len(guestabi.Resources) || len(actions) != len(guestabi.Actions) {
		t.Errorf("%d resources and %d actions, and in the ABI %d and %d", len(resources), len(actions), len(guestabi.Resources), len(guestabi.Actions))
	}
}

func encoded(pairs ...uint32) string {
	var b []byte
	for _, n := range pairs {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return string(b)
}

func TestEventsThatDoNotExistAreSkippedAndLogged(t *testing.T) {
	for wrong, want := range map[string]string{
		encoded(0, 1<<13): "action type 0x2000 for resource 0: its bits go from 0x1 to 0x1000",
		encoded(11, 1):    "resource 11 does not exist",
		encoded(1, 0):     "action type 0x0 for resource 1: its bits go from 0x1 to 0x1000",
	} {
		var events []fwk.ClusterEventWithHint
		log := logged(t, func() { events, _ = mirror(t, nil, "z"+wrong+encoded(1, 1)).EventsToRegister(t.Context()) })
		testkit.Has(t, log, want, "mirror.wasm")
		if len(events) != 1 || events[0].Event != (fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}) {
			t.Errorf("%s: events %v", want, events)
		}
	}
}

func TestPodIsNotWokenByItsOwnStatus(t *testing.T) {
	events, err := open(t, "patient").(fwk.EnqueueExtensions).EventsToRegister(t.Context())
	if err != nil || len(events) != 2 {
		t.Fatalf("%v, %v", events, err)
	}
	change := func(name string, how func(*v1.Pod)) *v1.Pod {
		p := pod(name)
		p.ResourceVersion = "2"
		how(p)
		return p
	}
	status := func(p *v1.Pod) { p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled}} }
	annotation := func(p *v1.Pod) { p.Annotations = map[string]string{"key": "value"} }
	tests := []struct {
		name     string
		old, new any
		want     fwk.QueueingHint
	}{
		{"its status lets it wait", pod("web"), change("web", status), fwk.QueueSkip},
		{"its annotation wakes it", pod("web"), change("web", annotation), fwk.Queue},
		{"both wake it", pod("web"), change("web", func(p *v1.Pod) { status(p); annotation(p) }), fwk.Queue},
		{"another pod's status wakes it: the guest may look at that", pod("db"), change("db", status), fwk.Queue},
		{"another pod's end wakes it", pod("db"), nil, fwk.Queue},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := events[0].QueueingHintFn(klog.Background(), pod("web"), tt.old, tt.new)
			testkit.Must(t, err)
			testkit.Equal(t, got, tt.want, "the hint")
		})
	}
}
