package regex

import (
	"reflect"
	"strings"
	"testing"
)

// A role that is missing somewhere fails here, or in plugin, static and extender/algorithm/regex,
// under its name.
func TestEveryRole(t *testing.T) {
	policy := reflect.TypeFor[Policy]()
	if policy.NumField() != int(Roles) {
		t.Errorf("%d roles, but Policy has %d fields", Roles, policy.NumField())
	}
	seen := map[string]Role{}
	for r := range Roles {
		t.Run(r.Field(), func(t *testing.T) {
			if roles[r].key == nil || r.Field() == "" || r.Nodes() == "" {
				t.Fatalf("role %d is incomplete: %+v", r, roles[r])
			}
			for _, text := range []string{r.Field(), Default.Keys()[r], r.Nodes()} {
				other, ok := seen[text]
				if ok {
					t.Errorf("%q is also that of role %d", text, other)
				}
				seen[text] = r
			}
			_, err := ParseConfig([]byte(`{"` + r.Field() + `": "a b"}`))
			if err == nil || !strings.HasPrefix(err.Error(), `annotation key "a b" must have a name`) {
				t.Errorf("a bad key: %v", err)
			}
			configured, err := ParseConfig([]byte(`{"` + r.Field() + `": "example.com/own"}`))
			if err != nil {
				t.Fatal(err)
			}
			own := reflect.ValueOf(configured).Field(int(r))
			if own.String() != "example.com/own" || policy.Field(int(r)).Tag.Get("json") != r.Field() {
				t.Errorf("%s is not field %s of Policy: %+v", r.Field(), policy.Field(int(r)).Name, configured)
			}
			annotations := map[string]string{"example.com/own": "gpu"}
			cache := NewCache(configured, 1<<20)
			for _, by := range []interface {
				Selector(map[string]string) (*Selector, error)
				Preference(map[string]string) (*Selector, error)
			}{configured, cache} {
				rejecting, err := by.Selector(annotations)
				scoring, err2 := by.Preference(annotations)
				if err != nil || err2 != nil || (rejecting != nil) != r.Rejects() || (scoring != nil) == r.Rejects() {
					t.Fatalf("%T: %v, %v, %v, %v", by, rejecting, scoring, err, err2)
				}
				if rejecting == nil {
					rejecting = scoring
				}
				if rejecting.Match("gpu-1") == roles[r].rejectsMatch || rejecting.Match("cpu-1") != roles[r].rejectsMatch {
					t.Errorf("%T: the wrong nodes match", by)
				}
				reason := rejecting.Reason(1 + Verdict(r))
				if strings.HasSuffix(reason, `"gpu"`) != r.Rejects() {
					t.Errorf("%T: reason %q", by, reason)
				}
				annotations["example.com/own"] = "("
				_, err = by.Selector(annotations)
				if err == nil || err.Error() != `annotation example.com/own: missing closing ): "("` {
					t.Errorf("%T: a bad pattern: %v", by, err)
				}
				annotations["example.com/own"] = "gpu"
			}
		})
	}
}
