package kubectl

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"sigs.k8s.io/yaml/goyaml.v3"
)

// readJSON reads one or more JSON documents. It keeps only what lint needs: kind, apiVersion,
// and what is in a mapping called metadata. The list of a cluster's pods has a hundred
// megabytes, and goyaml takes ten times as long.
func readJSON(text []byte) (documents []*yaml.Node, err error) {
	r := &jsonReader{
		text: text, line: 1,
		Decoder: jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true)),
	}
	for {
		node, err := r.value("", false)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, node)
	}
}

type jsonReader struct {
	*jsontext.Decoder
	text  []byte
	line  int
	begin int // of the line, in bytes
	done  int // the lines are counted up to here
}

// value reads a value. It returns nil for a scalar that is not needed.
func (r *jsonReader) value(key string, kept bool) (*yaml.Node, error) {
	kept = kept || key == "metadata"
	switch kind := r.PeekKind(); kind {
	case '{':
		return r.mapping(kept)
	case '[':
		return r.sequence(kept)
	default:
		raw, err := r.ReadValue()
		if err != nil || !kept && key != "kind" && key != "apiVersion" {
			return nil, err
		}
		return r.scalar(raw), nil
	}
}

func (r *jsonReader) mapping(kept bool) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	for r.PeekKind() != '}' {
		token, err := r.ReadToken()
		if err != nil {
			return nil, err
		}
		key := token.String()
		value, err := r.value(key, kept)
		if err != nil {
			return nil, err
		}
		if value != nil {
			node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
		}
	}
	_, err := r.ReadToken()
	return node, err
}

func (r *jsonReader) sequence(kept bool) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	for r.PeekKind() != ']' {
		value, err := r.value("", kept)
		if err != nil {
			return nil, err
		}
		if value != nil && (kept || len(value.Content) > 0) {
			node.Content = append(node.Content, value)
		}
	}
	_, err := r.ReadToken()
	return node, err
}

// scalar makes the node of a string, a number, true, false or null that was just read.
func (r *jsonReader) scalar(raw jsontext.Value) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: string(raw)}
	switch raw.Kind() {
	case '"':
		text, _ := jsontext.AppendUnquote(nil, raw)
		node.Tag, node.Value = "!!str", string(text)
	case 'n':
		node.Tag = "!!null"
	case 't', 'f':
		node.Tag = "!!bool"
	default:
		node.Tag = "!!float"
	}
	at := int(r.InputOffset()) - len(raw)
	if n := bytes.Count(r.text[r.done:at], []byte("\n")); n > 0 {
		r.line += n
		r.begin = r.done + bytes.LastIndexByte(r.text[r.done:at], '\n') + 1
	}
	r.done = at
	node.Line, node.Column = r.line, 1+utf8.RuneCount(r.text[r.begin:at])
	return node
}
