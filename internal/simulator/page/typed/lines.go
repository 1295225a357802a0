package typed

import (
	"cmp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"
)

// line finds the line of the whole text that a field path is about. What is not
// there is looked for where it should be: in the nearest parent.
func (d Document) line(path string) int {
	line, _ := d.find(path)
	return line
}

// find is line, and the value there.
func (d Document) find(path string) (line int, at *yaml.Node) {
	var root yaml.Node
	if yaml.Unmarshal([]byte(d.text), &root) != nil || len(root.Content) == 0 {
		return d.first, nil
	}
	at, line = root.Content[0], root.Content[0].Line
	for path != "" {
		key, value, rest := step(at, path)
		if value == nil {
			break
		}
		at, line, path = value, key.Line, rest
	}
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

// step goes into a mapping or a sequence by the beginning of a path, and returns
// the value there, the node that names it, and the rest of the path. A key may
// contain dots itself, or stand in brackets.
func step(of *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	path = strings.TrimPrefix(path, ".")
	switch of.Kind {
	case yaml.SequenceNode:
		inside, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(inside); err == nil && i >= 0 && i < len(of.Content) {
			return of.Content[i], of.Content[i], rest
		}
	case yaml.MappingNode:
		longest := -1
		for i := 0; i+1 < len(of.Content); i += 2 {
			name := of.Content[i].Value
			if after, ok := cutKey(path, name); ok && len(name) > longest {
				longest, key, value, rest = len(name), of.Content[i], of.Content[i+1], after
			}
		}
	}
	return key, value, rest
}

// cutKey takes a key from the beginning of a path.
func cutKey(path, key string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(path, "["+key+"]"); ok {
		return rest, true
	}
	rest, ok = strings.CutPrefix(path, key)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
