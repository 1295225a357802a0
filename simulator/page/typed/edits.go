package typed

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Another says where an edit would be of another object than the one it began with.
func Another(before, after []Document) (problems []Problem) {
	if len(before) != 1 || len(after) != 1 {
		return []Problem{{Message: "this form changes one object, and here are " + strconv.Itoa(len(after))}}
	}
	for _, field := range []string{"apiVersion", "kind", "metadata.namespace", "metadata.name"} {
		if was := before[0].at(field); was != after[0].at(field) {
			problems = append(problems, after[0].problem(field, fmt.Sprintf("must stay %v: for another object use New", was)))
		}
	}
	return problems
}

// EditRefusal is what the API server has against a changed object. What must not be
// changed is shown where it was.
func EditRefusal(before, after Document, err error) (problems []Problem) {
	for _, p := range after.Refusal(err) {
		changed := changedAt(before, after, p.Field)
		if !unchangeable.MatchString(p.Message) || len(changed) == 0 {
			problems = append(problems, p)
			continue
		}
		for _, field := range changed {
			problems = append(problems, after.problem(field, p.Message+"; to have it otherwise, delete the "+after.GetKind()+" and create it anew"))
		}
	}
	return problems
}

// changedAt are the changes below a field or, where there are none because the API
// server calls it otherwise than people do, below the nearest one around it.
func changedAt(before, after Document, field string) []string {
	for field != "" {
		if changed := changes(field, before.at(field), after.at(field)); len(changed) > 0 {
			return changed
		}
		field = field[:max(0, strings.LastIndexByte(field, '.'))]
	}
	return nil
}

// at is the value at a path without indices, or nil.
func (d Document) at(path string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(d.Object, strings.Split(path, ".")...)
	return value
}

// changes are the paths below one at which two values differ.
func changes(path string, before, after any) (all []string) {
	switch old := before.(type) {
	case map[string]any:
		if now, ok := after.(map[string]any); ok {
			for _, key := range sets.List(sets.KeySet(old).Union(sets.KeySet(now))) {
				all = append(all, changes(path+"."+key, old[key], now[key])...)
			}
			return all
		}
	case []any:
		if now, ok := after.([]any); ok && len(old) == len(now) {
			for i := range old {
				all = append(all, changes(path+"["+strconv.Itoa(i)+"]", old[i], now[i])...)
			}
			return all
		}
	}
	if reflect.DeepEqual(before, after) {
		return nil
	}
	return []string{path}
}
