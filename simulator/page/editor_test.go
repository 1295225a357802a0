package page

import "testing"

func TestOnlyTheDifferenceIsSent(t *testing.T) {
	before := map[string]any{"metadata": map[string]any{"name": "a", "labels": map[string]any{"x": "1"}}, "status": map[string]any{"a": "1"}}
	after := map[string]any{"metadata": map[string]any{"name": "a"}, "status": map[string]any{"a": "2"}}
	if got, err := difference(before, after); err != nil || string(got) != `{"metadata":{"labels":null},"status":{"a":"2"}}` {
		t.Errorf("%s, %v", got, err)
	}
}
