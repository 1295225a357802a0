package recorder

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
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
			if i != len(got) {
				t.Errorf("%s: number %d comes after %d", name, i, len(got))
			}
			got = append(got, place)
		}
		if !slices.Equal(got, want) || p.count() != len(want) || len(p) > len(want) {
			t.Errorf("%s: %v in %v, want %v", name, got, p, want)
		}
		text, err := json.Marshal(p)
		var again places
		if err != nil || json.Unmarshal(text, &again) != nil || !slices.Equal(again, p) || len(want) > 0 && string(text) != fmt.Sprint(jsonOf(want)) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	p := (places{})
	if json.Unmarshal([]byte("[1,-3]"), &p) == nil {
		t.Errorf("a negative place is %v", p)
	}
}

func jsonOf(numbers []int32) string {
	text, _ := json.Marshal(numbers)
	return string(text)
}
