package namefilter

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
)

func TestFilterPassesTheNodesNameAndTheVerdict(t *testing.T) {
	var got string
	rejected := &guest.Status{Code: guest.UnschedulableAndUnresolvable, Reason: "it is Monday"}
	for _, status := range []*guest.Status{rejected, nil} {
		Set(func(name string) *guest.Status { got = strings.Clone(name); return status })
		var want guest.Status
		if status != nil {
			want = *status
		}
		for _, name := range []string{"kubecon-1", "", strings.Repeat("n", 10_000), "k"} {
			out := guesttest.Call(t, "filter", guesttest.Input{Node: name})
			if out.Status != want || got != name {
				t.Errorf("%.20q: %+v, node %.20q", name, out, got)
			}
		}
	}
}
