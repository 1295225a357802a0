package namefilter

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
	"wasmkwokwizardry.io/regex-scheduling/guest/internal/host"
)

func TestFilterPassesTheNodesNameAndTheVerdict(t *testing.T) {
	var got string
	status := &guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: "it is Monday"}
	Set(func(name string) *guest.Status { got = strings.Clone(name); return status })
	for _, name := range []string{"kubecon-1", "", strings.Repeat("n", 10_000), "k"} {
		if out := guesttest.Call(t, "filter", guesttest.Input{Node: name}); out.Status != *status || got != name {
			t.Errorf("%.20q: %+v, node %q", name, out, got)
		}
	}
}

func TestFilterSaysNothingMoreThanSuccess(t *testing.T) {
	Set(func(string) *guest.Status { return nil })
	if out := guesttest.Call(t, "filter", guesttest.Input{Node: "kubecon-1"}); out.Status != (guest.Status{}) {
		t.Errorf("%+v", out)
	}
}

func TestTheHostLearnsWhereNamesGo(t *testing.T) {
	at := whereNames()
	if buffer := host.Memory(uint32(at>>32), uint32(at)); len(buffer) != len(namesBuffer) || &buffer[0] != &namesBuffer[0] {
		t.Errorf("it would write %d bytes elsewhere than into the buffer", len(buffer))
	}
}

func TestManyNamesAreAnsweredAboutButForOtherReasons(t *testing.T) {
	forC := &guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: "is for c"}
	forOthers := &guest.Status{Code: guest.Unschedulable, Reason: "is for others"}
	Set(func(name string) *guest.Status {
		switch name[0] {
		case 'k':
			return nil
		case 'c':
			return forC
		}
		return forOthers
	})
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
		host.Now.Reason = ""
		if got := string(namesBuffer[:filterNames(uint32(len(tt.names)))]); got != tt.codes || host.Now.Reason != tt.reason {
			t.Errorf("%.20q: codes %q, reason %q", tt.names, got, host.Now.Reason)
		}
	}
}
