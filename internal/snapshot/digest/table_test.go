package digest

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/component-base/version"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// TestTableNamesFieldsThatExist: a misspelt one would become a digest.
func TestTableNamesFieldsThatExist(t *testing.T) {
	if !strings.HasPrefix(version.DefaultKubeBinaryVersion, "1.36") {
		t.Skip("other minors have more fields, or fewer")
	}
	known := map[reflect.Type]map[string]field{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(t.Elem())
		case reflect.Struct:
			_, seen := known[t]
			if seen {
				return
			}
			known[t] = fieldsIn(t)
			for f := range t.Fields() {
				visit(f.Type)
			}
		}
	}
	for _, kind := range snapshot.Kinds {
		visit(reflect.TypeOf(kind.Example()))
	}
	for name, fields := range rules {
		for _, field := range fields {
			field, _, _ = strings.Cut(strings.TrimPrefix(field, "-"), "=")
			found := false
			for of, has := range known {
				_, ok := has[field]
				found = found || of.Name() == name && (ok || field == "*")
			}
			if !found && name != "PodGroupSpec" { // which 1.37 has
				t.Errorf("there is no field %s in %s", field, name)
			}
		}
	}
}
