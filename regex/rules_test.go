package regex

import (
	"reflect"
	"strings"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestErrorNamesTheAnnotationAtFault(t *testing.T) {
	for _, tc := range []struct {
		annotations map[string]string
		want        string
	}{
		{map[string]string{Annotation: "a", ExcludeAnnotation: "("}, "annotation " + ExcludeAnnotation + `: missing closing ): "("`},
		{map[string]string{Annotation: "[", ExcludeAnnotation: "("}, "annotation " + Annotation + `: missing closing ]: "["`},
		{map[string]string{ExcludeAnnotation: "[ab]*a[ab]{900}$"}, "annotation " + ExcludeAnnotation + ": the pattern is too costly to match"},
	} {
		_, err := Default.Compile(tc.annotations)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%v: got %v", tc.annotations, err)
		}
	}
}

func TestCompileOfOneRoleReadsNoOther(t *testing.T) {
	annotations := map[string]string{Default.Annotation: "(", Default.PreferAnnotation: "gpu"}
	rules, err := NewCache(Default, 1<<20).Compile(annotations, Prefer)
	if err != nil || !rules.Prefers("gpu-1") || rules.Filters() {
		t.Errorf("%v, %v", rules, err)
	}
	if _, err := Default.Compile(annotations, Require, Prefer); err == nil {
		t.Error("an invalid pattern of a role that is asked for is taken")
	}
}

// decides is what the pattern of each role decides on a name that it matches, and on another one.
var decides = [Roles]struct {
	matching, other Verdict
	prefers         bool
}{Require: {other: Mismatch}, Exclude: {matching: Excluded}, Prefer: {prefers: true}}

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
			if r.Field() == "" || r.Nodes() == "" {
				t.Fatalf("role %d is incomplete: %+v", r, roles[r])
			}
			if Default.Keys()[r] != Default.Key(r) {
				t.Errorf("Keys has not %s at %d", Default.Key(r), r)
			}
			for _, text := range []string{r.Field(), Default.Key(r), r.Nodes()} {
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
			must(t, err)
			own := reflect.ValueOf(configured).Field(int(r))
			if own.String() != "example.com/own" || policy.Field(int(r)).Tag.Get("json") != r.Field() {
				t.Errorf("%s is not field %s of Policy: %+v", r.Field(), policy.Field(int(r)).Name, configured)
			}
			annotations := map[string]string{}
			cache := NewCache(configured, 1<<20)
			values := func(annotations map[string]string, _ ...Role) (Rules, error) {
				all := make([]*string, Roles)
				own := annotations["example.com/own"]
				all[r] = &own
				return cache.CompileValues(all)
			}
			for name, compile := range map[string]func(map[string]string, ...Role) (Rules, error){"Policy": configured.Compile, "Cache": cache.Compile, "values": values} {
				annotations["example.com/own"] = "gpu"
				rules, err := compile(annotations)
				if err != nil || rules.Filters() != r.Rejects() || rules.Scores() == r.Rejects() {
					t.Fatalf("%s: %v, %v", name, rules, err)
				}
				matching, other := rules.Judge("gpu-1"), rules.Judge("cpu-1")
				if want := decides[r]; matching != want.matching || other != want.other || rules.Prefers("gpu-1") != want.prefers || rules.Prefers("cpu-1") {
					t.Errorf("%s: the wrong nodes match: %v, %v", name, matching, other)
				}
				reason := rules.Reason(max(matching, other))
				if strings.HasSuffix(reason, `"gpu"`) != r.Rejects() {
					t.Errorf("%s: reason %q", name, reason)
				}
				annotations["example.com/own"] = "("
				_, err = compile(annotations)
				if err == nil || err.Error() != `annotation example.com/own: missing closing ): "("` {
					t.Errorf("%s: a bad pattern: %v", name, err)
				}
			}
		})
	}
}
