package page

import (
	"strconv"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"
)

// line finds the line of the whole text that a field path is about. What is not
// there is looked for where it should be: in the nearest parent.
func (d document) line(path string) int {
	var root yaml.Node
	if yaml.Unmarshal([]byte(d.text), &root) != nil || len(root.Content) == 0 {
		return d.first
	}
	at, line := root.Content[0], root.Content[0].Line
	for _, step := range steps(path) {
		key, value := child(at, step)
		if value == nil {
			break
		}
		at, line = value, key.Line
	}
	return d.first + line - 1
}

// mentioned finds the line of the first value that a message speaks of, or 0.
func (d document) mentioned(message string) (line int) {
	const tooShort = 4 // letters: chance
	var root yaml.Node
	if yaml.Unmarshal([]byte(d.text), &root) != nil {
		return 0
	}
	first := len(message)
	var visit func(*yaml.Node)
	visit = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && len(n.Value) >= tooShort {
			if at := strings.Index(message, n.Value); at >= 0 && at < first {
				first, line = at, d.first+n.Line-1
			}
		}
		for i, c := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 { // keys say too little
				visit(c)
			}
		}
	}
	visit(&root)
	return line
}

// child returns a field of a mapping, or an item of a sequence, and the node
// that names it.
func child(of *yaml.Node, step string) (key, value *yaml.Node) {
	if of.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(of.Content) {
			return of.Content[i], of.Content[i]
		}
		return nil, nil
	}
	if of.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == step {
			return of.Content[i], of.Content[i+1]
		}
	}
	return nil, nil
}

// steps takes spec.containers[0].resources.limits[cpu] apart.
func steps(path string) []string {
	var steps []string
	for path != "" {
		switch end := strings.IndexAny(path, ".["); {
		case end == 0 && path[0] == '[':
			inside, rest, _ := strings.Cut(path[1:], "]")
			steps, path = append(steps, inside), rest
		case end == 0:
			path = path[1:]
		case end < 0:
			return append(steps, path)
		default:
			steps, path = append(steps, path[:end]), path[end:]
		}
	}
	return steps
}
