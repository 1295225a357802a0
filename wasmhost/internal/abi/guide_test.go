package abi

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestGuideHasTheWholeABI compares the tables of docs/guests.md with what is
// linked: each export with what it returns, each import with its parameters.
func TestGuideHasTheWholeABI(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/guests.md")
	testkit.Must(t, err)
	said := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| (`[a-z_, `A-Z.]+`) \\| ([a-z0-9, ]*) ?\\|")
	for _, match := range row.FindAllStringSubmatch(string(guide), -1) {
		names, tells := strings.Split(match[1], ", "), strings.Split(match[2], ", ")
		for i, name := range names {
			said[strings.Trim(name, "`")] = match[2]
			if len(names) == len(tells) && len(names) > 1 {
				said[strings.Trim(name, "`")] = strings.TrimSpace(strings.Replace(tells[i], "nothing", "", 1))
			}
		}
	}
	for h := range hooks {
		want := ""
		for _, result := range exports[h].results {
			want = api.ValueTypeName(result)
		}
		got, ok := said[h.String()]
		if !ok || strings.TrimSpace(got) != want {
			t.Errorf("%s returns %q, but docs/guests.md says %q", h, want, got)
		}
		delete(said, h.String())
	}
	for module, functions := range hostModules {
		for name, f := range functions {
			parameters := strings.FieldsFunc(said[name], func(r rune) bool { return r == ',' || r == ' ' })
			got, ok := said[name]
			if !ok || len(parameters) != f.params {
				t.Errorf("%s %s takes %d parameters, but docs/guests.md says %q", module, name, f.params, got)
			}
			delete(said, name)
		}
	}
	for _, name := range append([]string{exportDecidesBy}, startFunctions...) {
		delete(said, name)
	}
	if len(said) > 0 {
		t.Errorf("docs/guests.md also has %v", said)
	}
}
