package main

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
)

func TestPodRunsWhereItsDiskIs(t *testing.T) {
	in := guesttest.Input{
		Pod: guesttest.Object{Name: "db", Labels: map[string]string{label: "nvme"}},
		Nodes: []guesttest.Object{
			{Name: "fast", Labels: map[string]string{label: "nvme"}},
			{Name: "slow", Labels: map[string]string{label: "hdd"}},
			{Name: "none"},
		},
	}
	got := guesttest.Call(t, "prefilter", in)
	if got.Code != guest.Success {
		t.Fatal(got.Status)
	}
	for node, want := range map[string]guest.Code{
		"fast": guest.Success, "slow": guest.UnschedulableAndUnresolvable, "none": guest.UnschedulableAndUnresolvable,
	} {
		in.Node = node
		got := guesttest.Call(t, "filter", in)
		if got.Code != want {
			t.Errorf("%s: %+v", node, got.Status)
		}
	}
}

func TestPodThatAsksForNothingIsLeftAlone(t *testing.T) {
	got := guesttest.Call(t, "prefilter", guesttest.Input{})
	if got.Code != guest.Skip {
		t.Error(got.Status)
	}
}
