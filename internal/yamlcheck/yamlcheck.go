// Package yamlcheck compares YAML that a person has typed with the Go type that it
// is to become, and says of everything that does not fit where it stands and how
// to mend it. It is no API.
//
// It speaks before a decoder does, which stops at the first mistake and tells of
// it in Go's words. What fits here may still be refused: it knows types, not
// meaning.
package yamlcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"
)

// Problem is something that does not fit.
type Problem struct {
	// Field is a path such as spec.containers[0].name.
	Field string
	// Line is where it stands, from 1.
	Line    int
	Message string
}

// Problems are an error that tells all of them.
type Problems []Problem

func (p Problems) Error() string {
	all := make([]string, len(p))
	for i, problem := range p {
		if all[i] = problem.Message; problem.Field != "" {
			all[i] = problem.Field + ": " + problem.Message
		}
	}
	return strings.Join(all, "; ")
}

// Text is YAML as it was typed.
type Text struct{ root *yaml.Node } // nil: nothing is in it

// Parse reads a text of one document. In what is no YAML no problems are found.
func Parse(text []byte) Text {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil {
		return Text{}
	}
	return Of(&document)
}

// Of is a document that is parsed.
func Of(document *yaml.Node) Text {
	if len(document.Content) == 0 {
		return Text{}
	}
	return Text{document.Content[0]}
}

// Check returns what of the text does not fit a type.
func (t Text) Check(as reflect.Type) Problems {
	as, _ = inside(as, "")
	c := checker{root: as}
	if t.root != nil {
		c.check(t.root, as, "")
	}
	return c.problems
}

// Keys returns what is wrong with the keys, whatever they stand for: those that
// stand twice in the same place, and those that are no text.
func (t Text) Keys() Problems {
	var c checker
	if t.root != nil {
		c.keys(t.root, "")
	}
	return c.problems
}

type checker struct {
	root     reflect.Type
	problems Problems
}

func (c *checker) add(n *yaml.Node, field, message string) {
	c.problems = append(c.problems, Problem{Field: field, Line: n.Line, Message: message})
}

func (c *checker) keys(n *yaml.Node, path string) {
	if n.Kind == yaml.SequenceNode {
		for i, child := range n.Content {
			c.keys(child, item(path, i))
		}
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind == yaml.MappingNode || key.Kind == yaml.SequenceNode:
			c.add(key, path, "the name of a field must be text; a value that begins with { or [ must stand in quotes")
		case first[key.Value] > 0:
			c.add(key, join(path, key.Value), fmt.Sprintf("%q stands on line %d already, and may stand only once: %s", key.Value, first[key.Value], once(value)))
		default:
			first[key.Value] = key.Line
		}
		c.keys(value, join(path, key.Value))
	}
}

// once says how two values of a key become one.
func once(value *yaml.Node) string {
	switch value.Kind {
	case yaml.SequenceNode:
		return "leave this line out and put the items below it at the end of that list, or take the other one away"
	case yaml.MappingNode:
		return "move what stands below this line to there, or take one of the two away"
	}
	return "take one of the two away"
}

// check compares a value with a type. A null fits all.
func (c *checker) check(n *yaml.Node, t reflect.Type, path string) {
	n = resolve(n)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind, readsItself := t.Kind(), reflect.PointerTo(t).Implements(unmarshaler)
	switch {
	case t == raw || kind == reflect.Interface || n.Kind == yaml.ScalarNode && string(jsonOf(n)) == "null":
	case readsItself || kind != reflect.Struct && kind != reflect.Map && kind != reflect.Slice && kind != reflect.Array:
		c.leaf(n, t, path)
	case kind == reflect.Struct || kind == reflect.Map:
		c.object(n, t, path)
	case t.Elem().Kind() == reflect.Uint8: // bytes, in base64
	case n.Kind != yaml.SequenceNode:
		c.add(n, path, "is "+what(n)+", but must be a list: "+inStyle(n, "put it into [ ]", `begin each item with "- "`))
	default:
		for i, child := range n.Content {
			c.check(child, t.Elem(), item(path, i))
		}
	}
}

func (c *checker) object(n *yaml.Node, t reflect.Type, path string) {
	if n.Kind != yaml.MappingNode {
		mend := `lines such as "name: value" below it, indented further`
		if n.Kind == yaml.SequenceNode {
			mend = inStyle(n, "take the [ ] away", `take the "- " away`)
		}
		c.add(n, path, "is "+what(n)+", but must have fields: "+mend)
		return
	}
	var fields map[string]reflect.Type
	if t.Kind() == reflect.Struct {
		fields = fieldsOf(t)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if t.Kind() == reflect.Map {
			c.check(value, t.Elem(), path+"["+key.Value+"]")
		} else if field, ok := fields[key.Value]; ok {
			c.check(value, field, join(path, key.Value))
		} else if key.Value != "<<" {
			c.add(key, join(path, key.Value), "unknown field"+c.hint(fields, path, key.Value))
		}
	}
}

// leaf compares a value with a type in which there are no fields and items.
func (c *checker) leaf(n *yaml.Node, t reflect.Type, path string) {
	err := json.Unmarshal(jsonOf(n), reflect.New(t).Interface())
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
	case forms[t] != "":
		c.add(n, path, forms[t])
	case !errors.As(err, &wrong):
		c.add(n, path, err.Error())
	case strings.HasPrefix(wrong.Value, "number ") && strings.Contains(wrong.Value, "."):
		c.add(n, path, "must be a whole number")
	case strings.HasPrefix(wrong.Value, "number -"):
		c.add(n, path, "is too small")
	case strings.HasPrefix(wrong.Value, "number "):
		c.add(n, path, fmt.Sprintf("is too large: it goes up to %d", int64(1)<<(t.Bits()-1)-1))
	default:
		also := ""
		if isTruth(n) { // which a decoder of YAML, before this one, may have made of these
			also = ", as y, n, yes, no, on and off are"
		}
		c.add(n, path, "is "+what(n)+also+", but must be "+called(t)+remedy(n, t))
	}
}

// remedy tells how a value becomes text, or text what is in it.
func remedy(n *yaml.Node, t reflect.Type) string {
	switch {
	case t.Kind() != reflect.String && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return ": take the quotes away"
	case t.Kind() != reflect.String:
		return ""
	case n.Kind != yaml.ScalarNode:
		return inStyle(n, ": put it in single quotes", "")
	case isTruth(n):
		return ": put it in quotes"
	}
	return ": put it in quotes, '" + n.Value + "'"
}

func isTruth(n *yaml.Node) bool { return n.Style == 0 && (n.Value == "true" || n.Value == "false") }

// inStyle chooses between what is for { } and [ ] and what is for lines.
func inStyle(n *yaml.Node, flow, block string) string {
	if n.Style&yaml.FlowStyle != 0 {
		return flow
	}
	return block
}

// what names a kind of value.
func what(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	switch jsonOf(n)[0] {
	case '"':
		return "text"
	case 't', 'f':
		return "true or false to YAML"
	}
	return "a number"
}

func called(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
