package page

import "testing"

func TestOnlyTheDifferenceIsSent(t *testing.T) {
	before := map[string]any{"metadata": map[string]any{"name": "a", "labels": map[string]any{"x": "1"}}, "status": map[string]any{"a": "1"}}
	after := map[string]any{"metadata": map[string]any{"name": "a"}, "status": map[string]any{"a": "2"}}
	for status, want := range map[bool]string{false: `{"metadata":{"labels":null}}`, true: `{"status":{"a":"2"}}`} {
		if got, err := difference(before, after, status); err != nil || string(got) != want {
			t.Errorf("status %v: %s, %v", status, got, err)
		}
	}
	if got, err := difference(before, before, false); err != nil || got != nil {
		t.Errorf("no difference: %s, %v", got, err)
	}
}
