package cli

import "testing"

// An exponent without a bound would keep Kubernetes' arithmetic busy for minutes.
func TestBytesOfAFlag(t *testing.T) {
	var b Bytes
	for value, want := range map[string]int64{"2Gi": 2 << 30, "1e3": 1000, "0": 0} {
		err := b.Set(value)
		if err != nil || b.Value() != want {
			t.Errorf("%s is %d, %v", value, b.Value(), err)
		}
	}
	for _, value := range []string{"1e99999999", "1e-99999999", "-1E+99999999", "much", "", "-1"} {
		err := b.Set(value)
		if err == nil {
			t.Errorf("%q is taken", value)
		}
	}
}
