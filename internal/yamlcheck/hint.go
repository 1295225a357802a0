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
		deeper := make([]string, len(homes))
		for i, h := range homes {
			deeper[i] = strings.TrimSuffix(h[strings.LastIndexByte(h, '.')+1:], "[]")
		}
		return "it belongs one level deeper, under one of " + strings.Join(deeper, ", ")
	}
	if first == "" {
		return "it belongs to the top level, without indentation"
	}
	if list, ok := strings.CutSuffix(first, "[]"); ok {
		return fmt.Sprintf("it belongs under %q, into a list item: \"- \" before its first field, the others indented like that one", list+":")
	}
	return fmt.Sprintf("it belongs under %q, indented further", first+":")
}

// homes are the paths nearest to the root under which a field of this name may
// stand, as profiles[] for pluginConfig. Below the path given they come first.
func (c *checker) homes(name, path string) []string {
	type place struct {
		t    reflect.Type
		path string
	}
	level := []place{{c.root, ""}}
	seen := map[reflect.Type]bool{}
	here := pattern(path)
	for range 5 { // levels; what lies deeper is not meant
		var found, below []string
		var next []place
		for _, p := range level {
			t, path := inside(p.t, p.path)
			if t.Kind() != reflect.Struct || seen[t] && path != here {
				continue
			}
			fields := fieldsOf(t)
			if fields[name] != nil && path != here {
				found = append(found, path)
				if strings.HasPrefix(path, here+".") && here != "" {
					below = append(below, path)
				}
			}
			for _, key := range slices.Sorted(maps.Keys(fields)) {
				next = append(next, place{fields[key], join(path, key)})
			}
		}
		if len(below) > 0 {
			return below
		}
		if len(found) > 0 {
			return found[:1]
		}
		for _, p := range level {
			t, _ := inside(p.t, p.path)
			seen[t] = true
		}
		level = next
	}
	return nil
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
