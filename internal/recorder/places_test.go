package recorder

import (
	"math/rand/v2"
	"slices"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestPlacesAreTheAddedOnes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, want := range map[string][]int32{
		"none": {}, "one": {7}, "the first": {0, 1, 2, 3}, "back": {3, 2, 1, 0}, "a run, and then the one before": {5, 6, 4, 5, 7, 8, 9}, "twice": {1, 1, 2, 2},
		"many": nil,
	} {
		for place := int32(0); name == "many" && len(want) < 2000; place += 1 + random.Int32N(3)/2 {
			want = append(want, place)
		}
		var p places
		for _, place := range want {
			p.add(place)
		}
		got := []int32{}
		for i, place := range p.all() {
			testkit.Equal(t, i, len(got), "%s: numbers", name)
			got = append(got, place)
		}
		if !slices.Equal(got, want) || p.count() != len(want) || len(p) > len(want) {
			t.Errorf("%s: %v in %v, want %v", name, got, p, want)
		}
		most := 0
		for _, place := range want {
			most = max(most, int(place)+1)
		}
		if !p.areOf(most) || most > 0 && p.areOf(most-1) {
			t.Errorf("%s: %v has places of %d nodes", name, p, most)
		}
	}
	for _, p := range []places{{-1}, {1, -3, -1}, {1, -3, -5}, {2, -2}} {
		if p.areOf(4) {
			t.Errorf("%v is of 4 nodes", p)
		}
	}
}
