package typed

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Another says where an edit would be of another object than the one it began with.
func Another(before, after []Document) []Problem {
	if len(before) != 1 || len(after) != 1 {
		return []Problem{{Message: "this form changes one object, and here are " + strconv.Itoa(len(after))}}
	}
	var problems []Problem
	for _, field := range []string{"apiVersion", "kind", "metadata.namespace", "metadata.name"} {
		if was := at(before[0], field); was != at(after[0], field) {
			problems = append(problems, after[0].problem(field, fmt.Sprintf("must stay %v: for another object use New", was)))
		}
	}
	return problems
}

// EditRefusal is what the API server has against a changed object. What must not be
// changed is shown where it was.
func EditRefusal(before, after Document, err error) []Problem {
	var problems []Problem
	for _, p := range after.Refusal(err) {
		changed := changedAt(before, after, p.Field)
		if !unchangeable.MatchString(p.Message) || len(changed) == 0 {
			problems = append(problems, p)
			continue
		}
		for _, field := range changed {
			problems = append(problems, after.problem(field, p.Message+afresh(after)))
		}
	}
	return problems
}

// changedAt are the changes below a field or, where there are none because the API
// server calls it otherwise than people do, below the nearest one around it.
func changedAt(before, after Document, field string) []string {
	for field != "" {
		if changed := changes(field, at(before, field), at(after, field)); len(changed) > 0 {
			return changed
		}
		field = field[:max(0, strings.LastIndexByte(field, '.'))]
	}
	return nil
}

var unchangeable = regexp.MustCompile(`may not (be changed|change)|immutable|updates to .* are forbidden`)

func afresh(d Document) string {
	return fmt.Sprintf("; to have it otherwise, delete the %s and create it anew", d.GetKind())
}

// at is the value at a path without indices, or nil.
func at(d Document, path string) any {
	var value any = d.Object
	for key := range strings.SplitSeq(path, ".") {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return value
}

// changes are the paths below one at which two values differ.
func changes(path string, before, after any) []string {
	var all []string
	switch old := before.(type) {
	case map[string]any:
		if now, ok := after.(map[string]any); ok {
			for _, key := range slices.Sorted(maps.Keys(merged(old, now))) {
				all = append(all, changes(strings.TrimPrefix(path+"."+key, "."), old[key], now[key])...)
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

func merged(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
