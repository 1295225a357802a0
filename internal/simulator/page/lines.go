package page

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// line finds the line of the whole text that a field path is about. What is not
// there is looked for where it should be: in the nearest parent.
func (d document) line(path string) int {
	line, _ := d.find(path)
	return line
}

// find is line, and the value there.
func (d document) find(path string) (line int, at *yaml.Node) {
	line, at = yamlcheck.Parse([]byte(d.text)).Find(path)
	return d.first + line - 1, at
}

// lineOf finds the line of a value below a path, such as one of many labels, or
// that of the path.
func (d document) lineOf(path, value string) int {
	line, at := d.find(path)
	if at == nil || value == "" {
		return line
	}
	for _, n := range at.Content {
		if n.Value == value {
			return d.first + n.Line - 1
		}
	}
	return line
}

// mentioned finds the line of the first value that a message speaks of, or else of
// the first field, or 0.
func (d document) mentioned(message string) int {
	const tooShort = 4 // letters: chance
	var root yaml.Node
	if yaml.Unmarshal([]byte(d.text), &root) != nil {
		return 0
	}
	first, line := [2]int{len(message), len(message)}, [2]int{} // of values, and of fields
	var visit func(*yaml.Node, int)
	visit = func(n *yaml.Node, as int) {
		if n.Kind == yaml.ScalarNode && len(n.Value) >= tooShort {
			if at := strings.Index(message, n.Value); at >= 0 && at < first[as] {
				first[as], line[as] = at, d.first+n.Line-1
			}
		}
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 {
				visit(c, 1)
			} else {
				visit(c, 0)
			}
		}
	}
	visit(&root, 0)
	return cmp.Or(line[0], line[1])
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
