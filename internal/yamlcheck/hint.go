package yamlcheck

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// hint guesses what is meant by a field that a struct does not have: another one of
// its fields, or the same one elsewhere.
func (c *checker) hint(t reflect.Type, fields map[string]reflect.Type, path, name string) string {
	if meant := Closest(name, slices.Sorted(maps.Keys(fields))); meant != "" {
		return fmt.Sprintf(": do you mean %q?", meant)
	}
	if _, ok := fields["annotations"]; ok && strings.Contains(name, "/") {
		return `: an annotation belongs one level deeper, indented below a line "annotations:"`
	}
	if args, ok := fields["args"]; ok && args == raw {
		return `: what the plugin itself reads belongs under "args:", indented further`
	}
	if homes := c.homes(name, path); len(homes) > 0 {
		return ": " + home(homes)
	}
	if len(fields) > few {
		return ""
	}
	return ": here may stand " + strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
}

// few fields are listed; of more a person would not read the names.
const few = 12

// home tells where a field belongs.
func home(homes []string) string {
	first := homes[0]
	if len(homes) > 1 {
		names := make([]string, len(homes))
		for i, h := range homes {
			names[i] = strings.TrimSuffix(h[strings.LastIndexByte(h, '.')+1:], "[]")
		}
		return "it belongs deeper, under one of " + strings.Join(names, ", ")
	}
	if first == "" {
		return "it belongs to the top level, without indentation"
	}
	if list, ok := strings.CutSuffix(first, "[]"); ok {
		return fmt.Sprintf("it belongs under %q, into a list item: \"- \" before its first field, the others indented like that one", list+":")
	}
	return fmt.Sprintf("it belongs under %q, indented further", first+":")
}

// place is a struct that may stand at a path.
type place struct {
	t    reflect.Type
	path string
}

// levels bounds the search for a field: what lies deeper is not meant.
const levels = 5

// homes are the paths nearest to the root under which a field of this name may
// stand, as profiles[] for pluginConfig. Those below the path given come first.
func (c *checker) homes(name, path string) []string {
	level := []place{{c.root, ""}}
	seen := map[reflect.Type]bool{}
	for range levels {
		if found := having(level, name, pattern(path)); len(found) > 0 {
			return found
		}
		level = deeper(level, seen)
	}
	return nil
}

// having are the places with a field: all that are below a path, or else the first.
func having(level []place, name, here string) []string {
	var below, all []string
	for _, p := range level {
		if p.path == here || fieldsOf(p.t)[name] == nil {
			continue
		}
		all = append(all, p.path)
		if here != "" && strings.HasPrefix(p.path, here+".") {
			below = append(below, p.path)
		}
	}
	if len(below) > 0 {
		return below
	}
	return all[:min(1, len(all))]
}

// deeper are the structs in those of a level that were not seen before.
func deeper(level []place, seen map[reflect.Type]bool) []place {
	var next []place
	for _, p := range level {
		fields := fieldsOf(p.t)
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			if t, path := inside(fields[key], join(p.path, key)); t.Kind() == reflect.Struct && !seen[t] {
				next = append(next, place{t, path})
			}
		}
	}
	for _, p := range next {
		seen[p.t] = true
	}
	return next
}

// inside goes through pointers and lists.
func inside(t reflect.Type, path string) (reflect.Type, string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			path += "[]"
		}
		t = t.Elem()
	}
	return t, path
}

// pattern is a path without its indices.
func pattern(path string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(path, "[") {
		if b.Len() > 0 {
			b.WriteByte('[')
			part = strings.TrimLeft(part, "0123456789")
		}
		b.WriteString(part)
	}
	return b.String()
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
