package typed

import (
	"cmp"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// line finds the line of the whole text that a field path is about. What is not
// there is looked for where it should be: in the nearest parent.
func (d Document) line(path string) int {
	line, _ := d.find(path)
	return line
}

// find is line, and the value there.
func (d Document) find(path string) (line int, at *yaml.Node) {
	line, at = yamlcheck.Parse([]byte(d.text)).Find(path)
	return d.first + line - 1, at
}

// lineOf finds the line of a value below a path, such as one of many labels, or
// that of the path.
func (d Document) lineOf(path, value string) int {
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
func (d Document) mentioned(message string) int {
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
