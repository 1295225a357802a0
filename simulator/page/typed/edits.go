package typed

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Another says where an edit would be of another object than the one it began with.
func Another(before, after []Document) (problems []Problem) {
	if len(before) != 1 || len(after) != 1 {
		return []Problem{{Message: fmt.Sprintf("this form changes one object, and here are %d", len(after))}}
	}
	for _, field := range []string{"apiVersion", "kind", "metadata.namespace", "metadata.name"} {
		was, _, _ := unstructured.NestedString(before[0].Object, strings.Split(field, ".")...)
		is, _, _ := unstructured.NestedString(after[0].Object, strings.Split(field, ".")...)
		if was != is {
			problems = append(problems, after[0].problem(field, "must stay %s: for another object use New", was)...)
		}
	}
	return problems
}

// EditRefusal is what the API server has against a changed object. What must not be
// changed is shown where it was.
func EditRefusal(before, after Document, err error) (problems []Problem) {
	all := changes("", before.Object, after.Object)
	for _, p := range after.Refusal(err) {
		changed := nearest(p.Field, all)
		if !unchangeable.MatchString(p.Message) || len(changed) == 0 {
			problems = append(problems, p)
			continue
		}
		for _, field := range changed {
			problems = append(problems, after.problem(field, "%s; to have it otherwise, delete the %s and create it anew", p.Message, after.GetKind())...)
		}
	}
	return problems
}

// nearest are the paths below a field or, where there are none because the API server
// calls it otherwise than people do, below the nearest one around it.
func nearest(field string, paths []string) (found []string) {
	for field != "" && len(found) == 0 {
		for _, path := range paths {
			if rest, below := strings.CutPrefix(path, field); below && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
				found = append(found, path)
			}
		}
		field = field[:max(0, strings.LastIndexByte(field, '.'))]
	}
	return found
}

// changes are the paths at or below one at which two values differ.
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

// inside are the values in an object or a list, by their paths.
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
