package main

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
)

func TestCheaperNodeScoresMore(t *testing.T) {
	for price, want := range map[string]int32{"0": 100, "0.25": 75, "1": 0, "7": 0, "-1": 0, "much": 0, "": 0} {
		in := guesttest.Input{Node: "n", Nodes: []guesttest.Object{{Name: "n", Labels: map[string]string{label: price}}}}
		got := guesttest.Call(t, "score", in)
		if got.Score != want {
			t.Errorf("price %q scores %d, want %d", price, got.Score, want)
		}
	}
}
