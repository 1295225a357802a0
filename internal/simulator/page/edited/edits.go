package edited

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
)

// OtherObject has a problem for each field by which an edit names another object.
func OtherObject(before, after []Document) (problems []Problem) {
	if len(before) != 1 || len(after) != 1 {
		return []Problem{{Message: fmt.Sprintf("this form edits one object; the text has %d", len(after))}}
	}
	for _, field := range []string{"apiVersion", "kind", "metadata.namespace", "metadata.name"} {
		was, _, _ := unstructured.NestedString(before[0].Object, strings.Split(field, ".")...)
		is, _, _ := unstructured.NestedString(after[0].Object, strings.Split(field, ".")...)
		if was != is {
			problems = append(problems, after[0].problem(field, "must stay %s: use New for another object", was)...)
		}
	}
	return problems
}

// EditProblems are the problems in an error of the API server about an edited object. A field that is
// immutable is reported at the edited lines.
func EditProblems(before, after Document, err error) (problems []Problem) {
	all := changes("", before.Object, after.Object)
	for _, p := range after.Problems(err) {
		changed := nearest(p.Field, all)
		if !immutable.MatchString(p.Message) || len(changed) == 0 {
			problems = append(problems, p)
			continue
		}
		for _, field := range changed {
			problems = append(problems, after.problem(field, "%s; to change it, delete and recreate the %s", p.Message, after.GetKind())...)
		}
	}
	return problems
}

// nearest are the paths below a field or, if there are none because the API server has another
// name for it, below its nearest parent.
func nearest(field string, paths []string) (found []string) {
	for field != "" && len(found) == 0 {
		for _, path := range paths {
			rest, below := strings.CutPrefix(path, field)
			if below && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
				found = append(found, path)
			}
		}
		field = field[:max(0, strings.LastIndexByte(field, '.'))]
	}
	return found
}

// changes are the paths at which two values differ.
func changes(path string, before, after any) (all []string) {
	old, now := inside(path, before), inside(path, after)
	if len(old) == 0 || len(now) == 0 {
		if !reflect.DeepEqual(before, after) {
			all = []string{path}
		}
		return all
	}
	for _, p := range sets.List(sets.KeySet(old).Union(sets.KeySet(now))) {
		all = append(all, changes(p, old[p], now[p])...)
	}
	return all
}

// inside are the values of an object or a list, by path.
func inside(path string, value any) map[string]any {
	values := map[string]any{}
	switch value := value.(type) {
	case map[string]any:
		for key, one := range value {
			values[strings.TrimPrefix(path+"."+key, ".")] = one
		}
	case []any:
		for i, one := range value {
			values[fmt.Sprintf("%s[%d]", path, i)] = one
		}
	}
	return values
}
