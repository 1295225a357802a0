package main

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
)

const gpu = "nvidia.com/gpu"

func TestNodeScoresByWhatIsRequestedThere(t *testing.T) {
	for name, tt := range map[string]struct {
		allocatable, requested int64
		want                   int32
	}{
		"an empty node":       {8, 0, 25},
		"a node half full":    {8, 4, 75},
		"a node that is full": {8, 6, 100},
		"a node with too few": {8, 7, 100}, // a filter rejects it
		"a node without GPUs": {0, 0, 0},
	} {
		in := guesttest.Input{
			Pod:  guesttest.Object{Name: "p", Resources: &guesttest.Resources{Requests: map[string]int64{gpu: 2}}},
			Node: "n",
			Nodes: []guesttest.Object{{Name: "n", Resources: &guesttest.Resources{
				Allocatable: map[string]int64{gpu: tt.allocatable}, Requested: map[string]int64{gpu: tt.requested},
			}}},
		}
		if got := guesttest.Call(t, "score", in).Score; got != tt.want {
			t.Errorf("%s scores %d, want %d", name, got, tt.want)
		}
	}
}

func TestNoNodeIsPreferredByAHostThatDoesNotCount(t *testing.T) {
	in := guesttest.Input{Pod: guesttest.Object{Name: "p"}, Node: "n", Nodes: []guesttest.Object{{Name: "n"}}}
	if got := guesttest.Call(t, "score", in).Score; got != 0 {
		t.Errorf("scores %d", got)
	}
}
