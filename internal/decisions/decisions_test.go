package decisions

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestAnswersAreBounded(t *testing.T) {
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("node-%06d.europe.example.com", i)
	}
	last := Attempt{Result: "Unschedulable", Total: len(names)}
	for i := range 2000 { // a reason for each node, as an extender may have
		last.Nodes = append(last.Nodes, Nodes{Reason: Short(strings.Repeat("long ", 2000)), Count: 50, Names: names[50*i : 50*i+50]})
	}
	for what, a := range map[string]Answer{
		"many names":   {Attempts: []Attempt{{Nodes: []Nodes{{Count: len(names), Names: names}}}}},
		"many reasons": {Attempts: []Attempt{last}},
	} {
		text, err := a.Encode()
		testkit.Must(t, err)
		var got Answer
		testkit.Must(t, json.Unmarshal(text, &got))
		if len(text) > MaxBytes+1 || !got.Shortened || len(got.Attempts[0].Nodes) == 0 || got.Attempts[0].Nodes[0].Count != a.Attempts[0].Nodes[0].Count {
			t.Errorf("%s: %d bytes, shortened: %v, %d reasons", what, len(text), got.Shortened, len(got.Attempts[0].Nodes))
		}
	}
	small := Answer{Attempts: []Attempt{{Nodes: []Nodes{{Count: 1, Names: names[:1]}}}}}
	text, err := small.Encode()
	if err != nil || strings.Contains(string(text), "shortened") {
		t.Errorf("a small answer is %s, %v", text, err)
	}
}
