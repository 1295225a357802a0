package guest

import (
	"bytes"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fake answers as it is told to, and keeps what it was asked.
type fake struct {
	status   Status
	nodeName string
	regex    string
}

func (f *fake) PreFilter(pod Pod) Status {
	if values, _ := pod.Annotations(key); values[0] != nil {
		f.regex = strings.Clone(*values[0])
	}
	return f.status
}

func (f *fake) Filter(nodeName string) *Status {
	f.nodeName = strings.Clone(nodeName)
	if f.status == (Status{}) {
		return nil
	}
	return &f.status
}

func (f *fake) EventsToRegister() []ClusterEvent {
	return []ClusterEvent{{Resource: NodeResource, ActionType: Add}, {Resource: PodResource, ActionType: UpdatePodOther}}
}

// serve writes data as the host does: nothing if it does not fit, and the size
// it needs.
func serve(data []byte) func([]byte) int {
	return func(buf []byte) int {
		if len(data) <= len(buf) {
			copy(buf, data)
		}
		return len(data)
	}
}

func TestFilterPassesTheNodesNameAndTheVerdict(t *testing.T) {
	var reason string
	host.setStatusReason = func(b []byte) { reason = string(b) }
	f := &fake{status: Status{UnschedulableAndUnresolvable, "it is Monday"}}
	Set(f)
	for _, name := range []string{"kubecon-1", "", strings.Repeat("n", 10_000), "k"} {
		host.currentNodeName = serve([]byte(name))
		if code := filter(); code != 3 || f.nodeName != name || reason != "it is Monday" {
			t.Errorf("%.20q: code %d, node %.20q, reason %q", name, code, f.nodeName, reason)
		}
	}
}

func TestFilterSaysNothingMoreThanSuccess(t *testing.T) {
	host.setStatusReason = func(b []byte) { t.Errorf("a reason for success: %q", b) }
	host.currentNodeName = serve([]byte("kubecon-1"))
	Set(&fake{})
	if code := filter(); code != 0 {
		t.Errorf("code %d", code)
	}
}

func TestPreFilterReadsPodsOfAnySize(t *testing.T) {
	f := &fake{status: Status{Code: Skip}}
	Set(f)
	for _, size := range []int{0, 100, 100_000, 1} {
		pod := v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: "kubecon-.*", "pad": strings.Repeat("x", size)}}}
		wire, err := pod.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		host.currentPod = serve(wire)
		if code := prefilter(); code != 5 || f.regex != "kubecon-.*" {
			t.Errorf("%d bytes: code %d, annotation %q", size, code, f.regex)
		}
	}
}

func (f *fake) DecidesBy() []Field { return []Field{PodAnnotation(key), NodeName} }

func TestAGuestSaysWhatItDecidesBy(t *testing.T) {
	Set(&fake{})
	for range 2 {
		answer := decidesBy()
		got := string(memory(uint32(answer>>32), uint32(answer)))
		if want := "pod.metadata.annotations['" + key + "']\x00node.metadata.name\x00"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestEnqueueEncodesTheEvents(t *testing.T) {
	var got []byte
	host.setClusterEvents = func(b []byte) { got = bytes.Clone(b) }
	Set(&fake{})
	enqueue()
	want := []byte{1, 0, 0, 0, 1, 0, 0, 0 /* a node, added */, 0, 0, 0, 0, 0, 0x10, 0, 0 /* a pod, changed */}
	if !bytes.Equal(got, want) {
		t.Errorf("got % x", got)
	}
}

func TestConfigMayBeEmpty(t *testing.T) {
	for _, want := range []string{"", `{"annotation": "a"}`, strings.Repeat(" ", 5000)} {
		host.getConfig = serve([]byte(want))
		if got := string(Config()); got != want {
			t.Errorf("got %.20q", got)
		}
	}
}

func TestManyNamesAreAnsweredAboutButForOtherReasons(t *testing.T) {
	var reason string
	host.setStatusReason = func(b []byte) { reason = string(b) }
	forC, forOthers := &Status{UnschedulableAndUnresolvable, "is for c"}, &Status{Unschedulable, "is for others"}
	Set(byName(func(name string) *Status {
		switch name[0] {
		case 'k':
			return nil
		case 'c':
			return forC
		}
		return forOthers
	}))
	for _, tt := range []struct {
		names  []string
		codes  string
		reason string
	}{
		{[]string{"kubecon-1", "cncf-1", "c", "kubecon-2"}, "\x00\x03\x03\x00", "is for c"},
		{[]string{"kubecon-1"}, "\x00", ""},
		{[]string{"cncf-1", "k", "other", "k"}, "\x03\x00\xff\x00", "is for c"},
		{[]string{strings.Repeat("k", 253), strings.Repeat("x", 253)}, "\x00\x02", "is for others"},
	} {
		at := namesBuffer[:0]
		for _, name := range tt.names {
			at = append(append(at, byte(len(name))), name...)
		}
		reason = ""
		if got := string(namesBuffer[:filterNames(uint32(len(tt.names)))]); got != tt.codes || reason != tt.reason {
			t.Errorf("%.20q: codes %q, reason %q", tt.names, got, reason)
		}
	}
}

// byName is a plugin that filters and does nothing else.
type byName func(string) *Status

func (byName) PreFilter(Pod) Status             { return Status{} }
func (b byName) Filter(name string) *Status     { return b(name) }
func (byName) DecidesBy() []Field               { return nil }
func (byName) EventsToRegister() []ClusterEvent { return nil }
