package yamlcheck

import (
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"
)

// Part is one of the documents of a text.
type Part struct {
	Text string
	// First is the line of the whole text, from 1, on which it begins.
	First int
}

// Split cuts a text at the lines that separate YAML documents.
func Split(text string) []Part {
	parts := []Part{{First: 1}}
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if line == "---" || strings.HasPrefix(line, "--- ") {
			parts = append(parts, Part{First: i + 2})
			continue
		}
		parts[len(parts)-1].Text += line + "\n"
	}
	return parts
}

// Second is the line that begins a second document of a text, or 0. Those with nothing
// in them do not count.
func Second(text string) int {
	parts := slices.DeleteFunc(Split(text), func(p Part) bool { return p.Parse().root == nil })
	if len(parts) < 2 {
		return 0
	}
	return parts[1].First - 1
}

// Parse reads the part. Its lines are those of the whole text.
func (p Part) Parse() Text {
	t := Parse([]byte(p.Text))
	if t.root != nil {
		shift(t.root, p.First-1)
	}
	return t
}

func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, child := range n.Content {
		shift(child, lines)
	}
}

// Line is the line, from 1, that a field path is about. What is not there is
// looked for where it should be: in the nearest parent.
func (t Text) Line(path string) int {
	line, _ := t.Find(path)
	return line
}

// At is the part of the text at a field path, empty if there is nothing.
func (t Text) At(path string) Text {
	at := t.root
	for at != nil && path != "" {
		_, at, path = step(at, path)
	}
	return Text{at}
}

// Find is Line, and the value there: nil if there is nothing at all.
func (t Text) Find(path string) (line int, at *yaml.Node) {
	if t.root == nil {
		return 1, nil
	}
	at, line = t.root, t.root.Line
	for path != "" {
		key, value, rest := step(at, path)
		if value == nil {
			break
		}
		at, line, path = value, key.Line, rest
	}
	return line, at
}

// step goes into a mapping or a sequence by the beginning of a path, and returns
// the value there, the node that names it, and the rest of the path. A key may
// contain dots itself, or stand in brackets.
func step(of *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	path = strings.TrimPrefix(path, ".")
	if of.Kind == yaml.SequenceNode {
		inside, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(inside); err == nil && i >= 0 && i < len(of.Content) {
			return of.Content[i], resolve(of.Content[i]), rest
		}
	}
	longest := -1
	for _, pair := range pairs(of, maxMerges) {
		name := pair[0].Value
		if after, ok := cutKey(path, name); ok && len(name) > longest {
			longest, key, value, rest = len(name), pair[0], pair[1], after
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

// maxMerges is how deep mappings may be merged into one another: an anchor can name
// a mapping that has it inside.
const maxMerges = 8

// pairs are the keys and values of a mapping, and behind them those of the ones that
// are merged into it.
func pairs(of *yaml.Node, merges int) (all [][2]*yaml.Node) {
	if of.Kind != yaml.MappingNode || merges == 0 {
		return nil
	}
	var merged [][2]*yaml.Node
	for i := 0; i+1 < len(of.Content); i += 2 {
		key, value := of.Content[i], resolve(of.Content[i+1])
		switch {
		case key.Tag != "!!merge":
			all = append(all, [2]*yaml.Node{key, value})
		case value.Kind == yaml.SequenceNode:
			for _, one := range value.Content {
				merged = append(merged, pairs(resolve(one), merges-1)...)
			}
		default:
			merged = append(merged, pairs(value, merges-1)...)
		}
	}
	return append(all, merged...)
}

// resolve follows an alias.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
