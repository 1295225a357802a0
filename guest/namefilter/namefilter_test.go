package namefilter

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
)

func TestFilterPassesTheNodesNameAndTheVerdict(t *testing.T) {
	var got string
	status := &guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: "it is Monday"}
	Set(func(name string) *guest.Status { got = strings.Clone(name); return status })
	for _, name := range []string{"kubecon-1", "", strings.Repeat("n", 10_000), "k"} {
		out := guesttest.Call(t, "filter", guesttest.Input{Node: name})
		if out.Status != *status || got != name {
			t.Errorf("%.20q: %+v, node %q", name, out, got)
		}
	}
}

func TestFilterSaysNothingMoreThanSuccess(t *testing.T) {
	Set(func(string) *guest.Status { return nil })
	out := guesttest.Call(t, "filter", guesttest.Input{Node: "kubecon-1"})
	if out.Status != (guest.Status{}) {
		t.Errorf("%+v", out)
	}
}
