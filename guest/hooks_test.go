package guest_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/bind"
	"wasmkwokwizardry.io/regex-scheduling/guest/decidesby"
	"wasmkwokwizardry.io/regex-scheduling/guest/enqueue"
	"wasmkwokwizardry.io/regex-scheduling/guest/filter"
	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
	"wasmkwokwizardry.io/regex-scheduling/guest/permit"
	"wasmkwokwizardry.io/regex-scheduling/guest/postbind"
	"wasmkwokwizardry.io/regex-scheduling/guest/postfilter"
	"wasmkwokwizardry.io/regex-scheduling/guest/prebind"
	"wasmkwokwizardry.io/regex-scheduling/guest/prefilter"
	"wasmkwokwizardry.io/regex-scheduling/guest/prefilterextensions"
	"wasmkwokwizardry.io/regex-scheduling/guest/prescore"
	"wasmkwokwizardry.io/regex-scheduling/guest/reserve"
	"wasmkwokwizardry.io/regex-scheduling/guest/score"
	"wasmkwokwizardry.io/regex-scheduling/guest/scoreextensions"
)

var unsuitable = guest.Status{Code: guest.Unschedulable, Reason: "not here"}

// TestHookHearsAndTells has each hook write down what it was given, and answer
// something that no other does.
func TestHookHearsAndTells(t *testing.T) {
	var heard string
	hear := func(words ...string) { heard = strings.Join(words, " ") }
	about := func(p guest.Pod, n guest.Node) guest.Status { hear(p.Name(), n.Name()); return unsuitable }
	prefilter.Set(func(p guest.Pod) guest.Status {
		hear(p.Namespace(), p.Name())
		prefilter.OnlyNodes("a", "b")
		return guest.Status{Code: guest.Skip}
	})
	prefilterextensions.Set(
		func(p guest.Pod, n guest.Node, target guest.Pod) guest.Status {
			hear(p.Name(), n.Name(), "+", target.Name())
			return guest.Status{}
		}, func(p guest.Pod, n guest.Node, target guest.Pod) guest.Status {
			hear(p.Name(), n.Name(), "-", target.Name())
			return unsuitable
		})
	filter.Set(func(p guest.Pod, n guest.Node) guest.Status {
		zone, ok := n.Label("zone")
		_, none := n.Annotation("zone")
		app, _ := p.Label("app")
		if !ok || none {
			t.Errorf("zone %v, annotation %v", ok, none)
		}
		hear(app, n.Name(), zone)
		return unsuitable
	})
	postfilter.Set(func(p guest.Pod, codes map[string]guest.Code) (string, guest.Status) {
		want := map[string]guest.Code{"a": guest.Unschedulable, "b": guest.Error}
		if !maps.Equal(codes, want) {
			t.Errorf("codes %v", codes)
		}
		hear(p.Name())
		return "a", guest.Status{}
	})
	prescore.Set(func(p guest.Pod, nodes []string) guest.Status {
		hear(append(nodes, p.Name())...)
		return guest.Status{}
	})
	score.Set(func(p guest.Pod, n guest.Node) (int32, guest.Status) {
		hear(p.Name(), n.Name())
		return -7, guest.Status{}
	})
	scoreextensions.Set(func(p guest.Pod, scores map[string]int64) guest.Status {
		hear(p.Name())
		for name := range scores {
			scores[name] *= 10
		}
		return guest.Status{}
	})
	reserve.Set(about, func(p guest.Pod, n guest.Node) { hear(p.Name(), n.Name(), "given up") })
	permit.Set(func(p guest.Pod, n guest.Node) (guest.Status, time.Duration) {
		hear(p.Name(), n.Name())
		return guest.Status{Code: guest.Wait}, 3 * time.Second
	})
	prebind.Set(about)
	bind.Set(about)
	postbind.Set(func(p guest.Pod, n guest.Node) { hear(p.Name(), n.Name(), "bound") })

	in := guesttest.Input{
		Pod:      guesttest.Object{Name: "web", Namespace: "shop", Labels: map[string]string{"app": "web"}},
		Target:   guesttest.Object{Name: "other"},
		Node:     "b",
		Nodes:    []guesttest.Object{{Name: "a"}, {Name: "b", Labels: map[string]string{"zone": "z"}}},
		Passed:   []string{"a", "b"},
		Statuses: map[string]guest.Code{"a": guest.Unschedulable, "b": guest.Error},
		Scores:   map[string]int64{"a": 1, "b": -2},
	}
	for export, want := range map[string]struct {
		heard string
		out   guesttest.Output
	}{
		"prefilter":      {"shop web", guesttest.Output{Status: guest.Status{Code: guest.Skip}, NodeNames: []string{"a", "b"}}},
		"addpod":         {"web b + other", guesttest.Output{}},
		"removepod":      {"web b - other", guesttest.Output{Status: unsuitable}},
		"filter":         {"web b z", guesttest.Output{Status: unsuitable}},
		"postfilter":     {"web", guesttest.Output{Nominated: "a"}},
		"prescore":       {"a b web", guesttest.Output{}},
		"score":          {"web b", guesttest.Output{Score: -7}},
		"normalizescore": {"web", guesttest.Output{Scores: map[string]int64{"a": 10, "b": -20}}},
		"reserve":        {"web b", guesttest.Output{Status: unsuitable}},
		"unreserve":      {"web b given up", guesttest.Output{}},
		"permit":         {"web b", guesttest.Output{Status: guest.Status{Code: guest.Wait}, Timeout: 3 * time.Second}},
		"prebind":        {"web b", guesttest.Output{Status: unsuitable}},
		"bind":           {"web b", guesttest.Output{Status: unsuitable}},
		"postbind":       {"web b bound", guesttest.Output{}},
	} {
		heard = ""
		out := guesttest.Call(t, export, in)
		if heard != want.heard || !reflect.DeepEqual(out, want.out) {
			t.Errorf("%s: heard %q, want %q; got %+v, want %+v", export, heard, want.heard, out, want.out)
		}
	}
}

func TestNodeIsReadByItsName(t *testing.T) {
	var heard []string
	prescore.Set(func(_ guest.Pod, nodes []string) guest.Status {
		for _, name := range nodes {
			node := guest.NodeNamed(name)
			zone, _ := node.Label("zone")
			heard = append(heard, node.Name()+"="+zone)
		}
		return guest.Status{}
	})
	guesttest.Call(t, "prescore", guesttest.Input{
		Nodes:  []guesttest.Object{{Name: "a", Labels: map[string]string{"zone": "x"}}, {Name: "b", Labels: map[string]string{"zone": "y"}}},
		Passed: []string{"b", "gone", "a"},
	})
	guesttest.Call(t, "prescore", guesttest.Input{}) // nothing is listed
	got := strings.Join(heard, " ")
	if got != "b=y gone= a=x" {
		t.Errorf("heard %q", got)
	}
}

func TestPodsOfAnySizeAreRead(t *testing.T) {
	const key = "example.com/key"
	prefilter.Set(func(p guest.Pod) guest.Status {
		value, ok := p.Annotation(key)
		values, err := p.Annotations("none", key)
		if !ok || err != nil || values[0] != nil || *values[1] != value {
			return guest.Status{Code: guest.Error, Reason: "annotations"}
		}
		var whole v1.Pod
		err = whole.Unmarshal(p.Protobuf())
		if err != nil || whole.Annotations[key] != value {
			return guest.Status{Code: guest.Error, Reason: errors.Join(errors.New("the whole pod"), err).Error()}
		}
		return guest.Status{Code: guest.Skip, Reason: value}
	})
	for _, size := range []int{0, 100, 100_000, 1} {
		pod := v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: "kubecon-.*", "pad": strings.Repeat("x", size)}}}
		wire, err := pod.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		in := guesttest.Input{Pod: guesttest.Object{Protobuf: wire}}
		out := guesttest.Call(t, "prefilter", in)
		if out.Code != guest.Skip || out.Reason != "kubecon-.*" {
			t.Errorf("%d bytes: %+v", size, out)
		}
	}
}

func TestGuestSaysWhatItDecidesBy(t *testing.T) {
	decidesby.Set(guest.PodAnnotation("a"), guest.NodeName)
	decidesby.Set(guest.PodNamespace, guest.PodName, guest.PodLabel("b"), guest.NodeLabel("c"), guest.NodeAnnotation("d"))
	got := guesttest.Declared(t)
	want := []guest.Field{
		"pod.metadata.namespace", "pod.metadata.name", "pod.metadata.labels['b']", "node.metadata.labels['c']", "node.metadata.annotations['d']",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want those of the last call: %q", got, want)
	}
}

// failing is a test that is expected to fail.
type failing struct {
	testing.TB
	message string
}

func (*failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f)
}

func TestDeclaredFailsWhereTheHostWould(t *testing.T) {
	expect := func(want string) {
		f := &failing{TB: t}
		defer func() {
			if recover() != f || !strings.Contains(f.message, want) {
				t.Errorf("got %q, want %q", f.message, want)
			}
		}()
		guesttest.Declared(f)
	}
	decidesby.Set(slices.Repeat([]guest.Field{guest.PodName}, 101)...)
	expect("decides_by: a list of 101 fields and 1818 bytes, and the host takes 100 and 65536: declare fewer")
	decidesby.Set(guest.PodLabel(strings.Repeat("a", 64<<10)))
	expect("decides_by: a list of 1 fields and 65560 bytes")

	export := host.Hooks["decides_by"]
	delete(host.Hooks, "decides_by")
	defer func() { host.Hooks["decides_by"] = export }()
	expect(`the guest does not export "decides_by": it exports`)
}

func TestEnqueueEncodesTheEvents(t *testing.T) {
	enqueue.Set(enqueue.ClusterEvent{Resource: enqueue.Node, ActionType: enqueue.Add}, enqueue.ClusterEvent{Resource: enqueue.Pod, ActionType: enqueue.UpdatePodOther})
	got := guesttest.Call(t, "enqueue", guesttest.Input{}).ClusterEvents
	want := []byte{1, 0, 0, 0, 1, 0, 0, 0 /* a node, added */, 0, 0, 0, 0, 0, 0x10, 0, 0 /* a pod, changed */}
	if string(got) != string(want) {
		t.Errorf("got % x", got)
	}
}

func TestConfigMayBeEmpty(t *testing.T) {
	var got string
	prefilter.Set(func(guest.Pod) guest.Status {
		got = string(guest.Config())
		guest.Log(guest.Info, "read "+got)
		return guest.Status{}
	})
	for _, want := range []string{"", `{"annotation": "a"}`, strings.Repeat(" ", 5000)} {
		out := guesttest.Call(t, "prefilter", guesttest.Input{Config: want})
		if got != want || !reflect.DeepEqual(out.Log, []string{"read " + want}) {
			t.Errorf("got %.20q, log %.40q", got, out.Log)
		}
	}
}

func TestWaitIsEnded(t *testing.T) {
	host.Now.Waiting = map[string]bool{"a": false, "b": false}
	if !permit.Allow("a") || !permit.Reject("b") || permit.Allow("c") || permit.Reject("b") {
		t.Error("a and b waited, and no other pod")
	}
	want := map[string]bool{"a": true}
	if !maps.Equal(host.Now.Waiting, want) {
		t.Errorf("left are %v, want %v", host.Now.Waiting, want)
	}
}
