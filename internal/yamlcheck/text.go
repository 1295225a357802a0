package yamlcheck

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	kyaml "sigs.k8s.io/yaml"
	"sigs.k8s.io/yaml/goyaml.v3"
)

// Text is a document of YAML as a person has written it.
type Text struct {
	root *yaml.Node // nil: it is empty
	line int        // on which the document begins: that with ---, if it has one
}

// Documents reads the documents of a text that are not empty, up to the first one that
// is not YAML.
func Documents(text []byte) (all []Text, err error) {
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if len(document.Content) > 0 && document.Content[0].ShortTag() != "!!null" {
			all = append(all, Text{document.Content[0], document.Line})
		}
	}
}

// Parse reads the first document of a text. It is empty where that is not YAML.
func Parse(text []byte) Text {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return Text{}
	}
	return Text{document.Content[0], document.Line}
}

// Begin is the line on which the document begins.
func (t Text) Begin() int { return t.line }

// JSON is what the decoders of Kubernetes read. To them y, no, on and such are booleans.
func (t Text) JSON() ([]byte, error) {
	text, err := yaml.Marshal(t.root)
	if err != nil {
		return nil, err
	}
	return kyaml.YAMLToJSON(text)
}

// Line is the line, from 1, of the field at a path. For a field that is missing it is the
// line of the nearest parent.
func (t Text) Line(path string) int {
	line, _ := t.Find(path)
	return line
}

// Find is Line, and the value there. The value is nil if the text is empty.
func (t Text) Find(path string) (line int, at *yaml.Node) {
	if t.root == nil {
		return 1, nil
	}
	line, at = t.root.Line, t.root
	left := strings.Trim(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
	for left != "" {
		key, value, after := step(at, left)
		if key == nil {
			break
		}
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		line, at, left = key.Line, value, after
	}
	return line, at
}

// step finds the field or the item that a path begins with, and what of the path is left.
// A name may contain dots itself: the longest one is meant.
func step(n *yaml.Node, path string) (key, value *yaml.Node, left string) {
	longest := ""
	try := func(name string, k, v *yaml.Node) {
		if strings.HasPrefix(path+".", name+".") && len(name) > len(longest) {
			longest, key, value = name, k, v
		}
	}
	for i, child := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			try(strconv.Itoa(i), child, child)
		case n.Kind == yaml.MappingNode && i%2 == 1:
			try(n.Content[i-1].Value, n.Content[i-1], child)
		}
	}
	return key, value, strings.TrimPrefix(path[len(longest):], ".")
}

// Keys returns what is wrong with the keys, whatever type they belong to: duplicates,
// and keys that are not text.
func (t Text) Keys() Problems {
	if t.root == nil {
		return nil
	}
	return keys(t.root, "")
}

func keys(n *yaml.Node, path string) (all Problems) {
	first := map[string]int{}
	for i, child := range n.Content {
		if n.Kind == yaml.SequenceNode {
			all = append(all, keys(child, fmt.Sprintf("%s[%d]", path, i))...)
			continue
		}
		if i%2 == 1 {
			all = append(all, keys(child, strings.TrimPrefix(path+"."+n.Content[i-1].Value, "."))...)
			continue
		}
		p := Problem{Field: strings.TrimPrefix(path+"."+child.Value, "."), Line: child.Line}
		switch {
		case child.Kind != yaml.ScalarNode && child.Kind != yaml.AliasNode:
			p.Field, p.Message = path, "the name of a field must be text"
		case first[child.Value] > 0:
			p.Message = fmt.Sprintf("duplicate field %q: it is on line %d already", child.Value, first[child.Value])
		default:
			first[child.Value] = child.Line
			continue
		}
		all = append(all, p)
	}
	return all
}
