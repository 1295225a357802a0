package abi

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
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
	for name, want := range abi.Exports {
		got, ok := said[name]
		if !ok || strings.TrimSpace(got) != string(want) {
			t.Errorf("%s returns %q, but docs/guests.md says %q", name, want, got)
		}
		delete(said, name)
	}
	for module, functions := range abi.Imports {
		for name, shape := range functions {
			parameters := strings.FieldsFunc(said[name], func(r rune) bool { return r == ',' || r == ' ' })
			got, ok := said[name]
			if !ok || len(parameters) != shape.Params || hostFunctions[module][name] == nil {
				t.Errorf("%s %s takes %d parameters, but docs/guests.md says %q", module, name, shape.Params, got)
			}
			delete(said, name)
		}
	}
	if len(said) > 0 {
		t.Errorf("docs/guests.md also has %v", said)
	}
}
