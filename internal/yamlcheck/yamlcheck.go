// Package yamlcheck compares YAML that a person has typed with the Go type that it
// is to become, and says of everything that does not fit where it stands and how
// to mend it.
//
// It speaks before a decoder does, which stops at the first mistake and tells of
// it in Go's words. What fits here may still be refused: it knows types, not
// meaning.
package yamlcheck

import (
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
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
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
	first := map[string]int{}
	for i, child := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			c.keys(child, item(path, i))
		case n.Kind == yaml.MappingNode && i%2 == 0 && (child.Kind == yaml.MappingNode || child.Kind == yaml.SequenceNode):
			c.add(child, path, "the name of a field must be text; a value that begins with { or [ must stand in quotes")
		case n.Kind == yaml.MappingNode && i%2 == 1:
			c.keys(child, join(path, n.Content[i-1].Value))
		case n.Kind == yaml.MappingNode && first[child.Value] > 0:
			c.add(child, join(path, child.Value), twice(child.Value, first[child.Value], n.Content[i+1]))
		case n.Kind == yaml.MappingNode:
			first[child.Value] = child.Line
		}
	}
}

func twice(key string, first int, value *yaml.Node) string {
	message := fmt.Sprintf("%q stands on line %d already, and may stand only once: ", key, first)
	switch value.Kind {
	case yaml.SequenceNode:
		return message + "leave this line out and put the items below it at the end of that list, or take the other one away"
	case yaml.MappingNode:
		return message + "move what stands below this line to there, or take one of the two away"
	}
	return message + "take one of the two away"
}

// check compares a value with a type. A null fits all.
func (c *checker) check(n *yaml.Node, t reflect.Type, path string) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Kind == yaml.ScalarNode && valueOf(n) == nil {
		return
	}
	if known, message := special(n, t); known {
		if message != "" {
			c.add(n, path, message)
		}
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		c.object(n, t, path)
	case reflect.Map:
		c.table(n, t, path)
	case reflect.Slice, reflect.Array:
		c.list(n, t, path)
	case reflect.Interface:
	default:
		c.scalar(n, t, path)
	}
}

func (c *checker) object(n *yaml.Node, t reflect.Type, path string) {
	if n.Kind != yaml.MappingNode {
		c.add(n, path, mustBeObject(n))
		return
	}
	fields := fieldsOf(t)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if field, ok := fields[key.Value]; ok {
			c.check(value, field, join(path, key.Value))
		} else if key.Value != "<<" {
			c.add(key, join(path, key.Value), "unknown field"+c.hint(t, fields, path, key.Value))
		}
	}
}

func (c *checker) table(n *yaml.Node, t reflect.Type, path string) {
	if n.Kind != yaml.MappingNode {
		c.add(n, path, mustBeObject(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		c.check(n.Content[i+1], t.Elem(), path+"["+n.Content[i].Value+"]")
	}
}

func (c *checker) list(n *yaml.Node, t reflect.Type, path string) {
	switch {
	case t.Elem().Kind() == reflect.Uint8: // bytes, in base64
	case n.Kind != yaml.SequenceNode:
		c.add(n, path, mustBeList(n))
	default:
		for i, child := range n.Content {
			c.check(child, t.Elem(), item(path, i))
		}
	}
}

func (c *checker) scalar(n *yaml.Node, t reflect.Type, path string) {
	switch value := valueOf(n).(type) {
	case string:
		if t.Kind() != reflect.String {
			c.add(n, path, "is text, but must be "+called(t)+quoted(n))
		}
	case bool:
		if t.Kind() != reflect.Bool {
			c.add(n, path, "is "+what(n)+others(n)+", but must be "+called(t)+inQuotes(n, t))
		}
	case float64:
		if message := misfit(value, t); message != "" {
			c.add(n, path, message+inQuotes(n, t))
		}
	default:
		c.add(n, path, "is "+what(n)+", but must be "+called(t)+inQuotes(n, t))
	}
}

// misfit says what is wrong with a number, or nothing.
func misfit(value float64, t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return ""
	case t.Kind() < reflect.Int || t.Kind() > reflect.Uint64:
		return "is a number, but must be " + called(t)
	case value != float64(int64(value)):
		return "must be a whole number"
	case t.Bits() < 64 && reflect.Zero(t).CanInt() && reflect.Zero(t).OverflowInt(int64(value)):
		return fmt.Sprintf("is too large: it goes up to %d", int64(1)<<(t.Bits()-1)-1)
	}
	return ""
}

// inQuotes tells how a value becomes text, where that is asked for.
func inQuotes(n *yaml.Node, t reflect.Type) string {
	switch {
	case t.Kind() != reflect.String || n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0:
		return ""
	case others(n) != "":
		return ": put it in quotes"
	case n.Kind == yaml.ScalarNode:
		return ": put it in quotes, '" + n.Value + "'"
	}
	return ": put it in single quotes"
}

// others names what else is a truth to YAML, where that may be what was typed: a
// decoder of YAML, before this one, has made true or false of it.
func others(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && (n.Value == "true" || n.Value == "false") {
		return ", as y, n, yes, no, on and off are"
	}
	return ""
}

// quoted tells how text becomes what is in it.
func quoted(n *yaml.Node) string {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		return ""
	}
	return ": take the quotes away"
}

func mustBeList(n *yaml.Node) string {
	message := "is " + what(n) + ", but must be a list: "
	if n.Style&yaml.FlowStyle != 0 {
		return message + "put it into [ ]"
	}
	return message + "begin each item with \"- \""
}

func mustBeObject(n *yaml.Node) string {
	message := "is " + what(n) + ", but must have fields: "
	switch {
	case n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle != 0:
		return message + "take the [ ] away"
	case n.Kind == yaml.SequenceNode:
		return message + "take the \"- \" away"
	}
	return message + "lines such as \"name: value\" below it, indented further"
}

// what names a kind of value.
func what(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	switch valueOf(n).(type) {
	case bool:
		return "true or false to YAML"
	case float64:
		return "a number"
	}
	return "text"
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

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
