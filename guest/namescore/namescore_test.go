package namescore

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
)

func TestScorePassesTheNodesNameAndTheScore(t *testing.T) {
	var got string
	Set(func() guest.Status { return guest.Status{} }, func(name string) int32 { got = strings.Clone(name); return int32(len(name)) })
	for _, name := range []string{"kubecon-1", "", strings.Repeat("n", 10_000), "k"} {
		out := guesttest.Call(t, "score", guesttest.Input{Node: name})
		if out.Status != (guest.Status{}) || got != name || out.Score != int32(len(name)) {
			t.Errorf("%.20q: %+v, node %.20q", name, out, got)
		}
	}
}

func TestPreScoreReports(t *testing.T) {
	want := guest.Status{Code: guest.Skip, Reason: "it is Monday"}
	Set(func() guest.Status { return want }, nil)
	out := guesttest.Call(t, "prescore", guesttest.Input{})
	if out.Status != want {
		t.Errorf("%+v", out)
	}
}
