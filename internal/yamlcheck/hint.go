package yamlcheck

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// few fields are listed; of more a person would not read the names.
const few = 12

// hint guesses what is meant by a field that a struct does not have: another one of
// its fields, or the same one elsewhere.
func (c *checker) hint(fields map[string]reflect.Type, path, name string) string {
	names := slices.Sorted(maps.Keys(fields))
	if meant := Closest(name, names); meant != "" {
		return fmt.Sprintf(": do you mean %q?", meant)
	}
	if _, ok := fields["annotations"]; ok && strings.Contains(name, "/") {
		return `: an annotation belongs one level deeper, indented below a line "annotations:"`
	}
	if fields["args"] == raw {
		return `: what the plugin itself reads belongs under "args:", indented further`
	}
	if homes := c.homes(name, index.ReplaceAllString(path, "[]")); len(homes) > 0 {
		return ": " + home(homes)
	}
	if len(fields) > few {
		return ""
	}
	return ": here may stand " + strings.Join(names, ", ")
}

// index is of a list's item in a path.
var index = regexp.MustCompile(`\[\d+\]`)

// home tells where a field belongs.
func home(homes []string) string {
	first := homes[0]
	list, isList := strings.CutSuffix(first, "[]")
	switch {
	case len(homes) > 1:
		var names []string
		for _, h := range homes {
			names = append(names, strings.TrimSuffix(h[strings.LastIndexByte(h, '.')+1:], "[]"))
		}
		return "it belongs deeper, under one of " + strings.Join(names, ", ")
	case first == "":
		return "it belongs to the top level, without indentation"
	case isList:
		return fmt.Sprintf("it belongs under %q, into a list item: \"- \" before its first field, the others indented like that one", list+":")
	}
	return fmt.Sprintf("it belongs under %q, indented further", first+":")
}

// levels bounds the search for a field: what lies deeper is not meant.
const levels = 5

// homes are the paths nearest to the root under which a field of this name may stand,
// as profiles[] for pluginConfig: all of them below the path given, or else the first.
func (c *checker) homes(name, here string) (all []string) {
	level := map[string]reflect.Type{"": c.root} // structs by their paths
	for range levels {
		next := map[string]reflect.Type{}
		for path, t := range level {
			for key, fieldType := range fieldsOf(t) {
				if key == name && path != here {
					all = append(all, path)
				}
				if t, path := inside(fieldType, join(path, key)); t.Kind() == reflect.Struct {
					next[path] = t
				}
			}
		}
		if len(all) > 0 {
			break
		}
		level = next
	}
	slices.Sort(all)
	isBelow := func(path string) bool { return here != "" && strings.HasPrefix(path, here+".") }
	if slices.ContainsFunc(all, isBelow) {
		return slices.DeleteFunc(all, func(path string) bool { return !isBelow(path) })
	}
	return all[:min(1, len(all))]
}

// inside goes through pointers and lists.
func inside(t reflect.Type, path string) (reflect.Type, string) {
	for ; t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice; t = t.Elem() {
		if t.Kind() == reflect.Slice {
			path += "[]"
		}
	}
	return t, path
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

// distance is how many letters have to be put in, taken out or changed to make one
// word of another.
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
