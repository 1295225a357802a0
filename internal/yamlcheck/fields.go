package yamlcheck

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// unknownFields are the mistakes that strict decoding into a type has found.
func unknownFields(found []error, root reflect.Type) (all Problems) {
	for _, err := range found {
		var at kjson.FieldError
		if !errors.As(err, &at) {
			all = append(all, Problem{Message: err.Error()})
			continue
		}
		all = append(all, Problem{Field: at.FieldPath(), Message: "unknown field" + hint(root, at.FieldPath())})
	}
	return all
}

// few fields are listed; nobody would read more names.
const few = 12

// hint guesses what an unknown field means: another field of the same object, or the same
// field one level up or down.
func hint(root reflect.Type, path string) string {
	parent, name := around(root, path)
	fields, ofRoot := fieldsOf(parent), fieldsOf(root)
	names := slices.Sorted(maps.Keys(fields))
	meant := Closest(name, names)
	switch {
	case meant != "":
		return fmt.Sprintf(": do you mean %q?", meant)
	case fields["annotations"] != nil && strings.Contains(name, "/"):
		return `: an annotation belongs one level deeper, indented below a line "annotations:"`
	case fields["args"] == reflect.TypeFor[runtime.RawExtension]():
		return `: what the plugin itself reads belongs under "args:", indented further`
	case ofRoot[name] != nil:
		return ": it belongs to the top level, without indentation"
	}
	for _, home := range slices.Sorted(maps.Keys(ofRoot)) {
		if fieldsOf(element(ofRoot[home]))[name] != nil {
			return fmt.Sprintf(": it belongs under %q, indented further", home+":")
		}
	}
	if len(names) > few {
		return ""
	}
	return ": use one of " + strings.Join(names, ", ")
}

// around is the type that lacks the field at a path, and the name of the field, which may
// contain dots.
func around(t reflect.Type, path string) (parent reflect.Type, name string) {
	for {
		t = element(t)
		first, rest, more := strings.Cut(path, ".")
		first, _, _ = strings.Cut(first, "[")
		next := fieldsOf(t)[first]
		if t.Kind() == reflect.Map {
			next = t.Elem()
		}
		if !more || next == nil {
			return t, path
		}
		t, path = next, rest
	}
}

// element is what pointers and lists lead to.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// fieldsOf are the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case name == "" && field.Anonymous:
			maps.Copy(fields, fieldsOf(field.Type))
		default:
			fields[cmp.Or(name, field.Name)] = field.Type
		}
	}
	return fields
}

// Closest is the name that another one is probably a misspelling of, or empty.
func Closest(name string, names []string) string {
	best, least := "", 3
	for _, other := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(other)); d < least && d <= len(other)/3 {
			best, least = other, d
		}
	}
	return best
}

// distance is how many letters one must insert, remove or change to make one word of
// another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
