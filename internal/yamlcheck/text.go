package yamlcheck

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	kyaml "sigs.k8s.io/yaml"
	"sigs.k8s.io/yaml/goyaml.v3"
)

// Text is a document of YAML as it was typed.
type Text struct {
	root *yaml.Node // nil: nothing is in it
	line int        // on which the document begins: that with ---, if it has one
}

// Documents reads the documents of a text that have something in them, up to the first
// one that is no YAML.
func Documents(text []byte) (all []Text, err error) {
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return all, err
		}
		if t := Of(&document); t.root != nil && t.root.ShortTag() != "!!null" {
			all = append(all, t)
		}
	}
}

// Parse reads the first document of a text. What is no YAML is read as nothing.
func Parse(text []byte) Text {
	var document yaml.Node
	_ = yaml.Unmarshal(text, &document)
	return Of(&document)
}

// Of is a document that is parsed.
func Of(document *yaml.Node) Text {
	if len(document.Content) == 0 {
		return Text{}
	}
	return Text{document.Content[0], document.Line}
}

// Second is the line that begins a second document of a text, or 0.
func Second(text []byte) int {
	if all, _ := Documents(text); len(all) > 1 {
		return all[1].line
	}
	return 0
}

// JSON is what the decoders of Kubernetes read, to which y, no, on and such are truths,
// too.
func (t Text) JSON() ([]byte, error) {
	text, err := yaml.Marshal(t.root)
	if err != nil {
		return nil, err
	}
	return kyaml.YAMLToJSON(text)
}

// Line is the line, from 1, that a field path is about. What is not there is
// looked for where it should be: in the nearest parent.
func (t Text) Line(path string) int {
	line, _ := t.Find(path)
	return line
}

// Find is Line, and the value there: nil if there is nothing at all.
func (t Text) Find(path string) (line int, at *yaml.Node) {
	line, at, _ = t.follow(path)
	return line, at
}

// At is the part of the text at a field path, empty if there is nothing.
func (t Text) At(path string) Text {
	if _, at, missing := t.follow(path); missing == "" {
		return Text{root: at}
	}
	return Text{}
}

// follow goes down a path as far as it leads, and returns the line and the value
// there, and what of the path is left.
func (t Text) follow(path string) (line int, at *yaml.Node, left string) {
	if t.root == nil {
		return 1, nil, path
	}
	line, at, left = t.root.Line, t.root, dotted(path)
	for left != "" {
		next, shortest := field{}, left
		for _, f := range fieldsIn(at, maxMerges) {
			after, found := strings.CutPrefix(left+".", dotted(f.name)+".")
			if found && len(after) < len(shortest) { // a key may contain dots itself
				next, shortest = f, after
			}
		}
		if next.value == nil {
			break
		}
		line, at, left = next.key.Line, resolve(next.value), strings.TrimSuffix(shortest, ".")
	}
	return line, at, left
}

// dotted is a path in which indices and keys stand behind dots, not in brackets.
func dotted(path string) string {
	return strings.Trim(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
}

// field is a value in a mapping or in a list, with what names it.
type field struct {
	name       string
	key, value *yaml.Node
}

// maxMerges is how deep mappings may be merged into one another: an anchor can name
// a mapping that has it inside.
const maxMerges = 8

// fieldsIn are the fields of a mapping, and behind them those that are merged into it,
// or the items of a list.
func fieldsIn(n *yaml.Node, merges int) (all []field) {
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			all = append(all, field{strconv.Itoa(i), item, item})
		}
	}
	if n.Kind != yaml.MappingNode || merges == 0 {
		return all
	}
	var merged []field
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag != "!!merge" {
			all = append(all, field{key.Value, key, value})
			continue
		}
		from := []*yaml.Node{value}
		if resolve(value).Kind == yaml.SequenceNode {
			from = resolve(value).Content
		}
		for _, one := range from {
			merged = append(merged, fieldsIn(resolve(one), merges-1)...)
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
