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
		all[i] = strings.TrimPrefix(problem.Field+": "+problem.Message, ": ")
	}
	return strings.Join(all, "; ")
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

func (c *checker) add(n *yaml.Node, field, format string, args ...any) {
	c.problems = append(c.problems, Problem{Field: field, Line: n.Line, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) keys(n *yaml.Node, path string) {
	first := map[string]int{}
	for i, child := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			c.keys(child, item(path, i))
		case i%2 == 1:
			c.keys(child, join(path, n.Content[i-1].Value))
		case child.Kind == yaml.MappingNode || child.Kind == yaml.SequenceNode:
			c.add(child, path, "the name of a field must be text; a value that begins with { or [ must stand in quotes")
		case first[child.Value] > 0:
			c.add(child, join(path, child.Value), "%q stands on line %d already, and may stand only once: %s",
				child.Value, first[child.Value], once[n.Content[i+1].Kind])
		default:
			first[child.Value] = child.Line
		}
	}
}

// once says how two values of a key become one.
var once = map[yaml.Kind]string{
	yaml.SequenceNode: "leave this line out and put the items below it at the end of that list, or take the other one away",
	yaml.MappingNode:  "move what stands below this line to there, or take one of the two away",
	yaml.ScalarNode:   "take one of the two away",
	yaml.AliasNode:    "take one of the two away",
}

// check compares a value with a type. A null fits all.
func (c *checker) check(n *yaml.Node, t reflect.Type, path string) {
	n = resolve(n)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := t.Kind(); {
	case t == raw || kind == reflect.Interface || n.Kind == yaml.ScalarNode && string(jsonOf(n)) == "null":
	case reflect.PointerTo(t).Implements(unmarshaler):
		c.leaf(n, t, path)
	case kind == reflect.Struct || kind == reflect.Map:
		c.object(n, t, path)
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8: // bytes, in base64
	case kind != reflect.Slice:
		c.leaf(n, t, path)
	case n.Kind != yaml.SequenceNode:
		c.add(n, path, "is %s, but must be a list: %s", what(n), inStyle(n, "put it into [ ]", `begin each item with "- "`))
	default:
		for i, child := range n.Content {
			c.check(child, t.Elem(), item(path, i))
		}
	}
}

func (c *checker) object(n *yaml.Node, t reflect.Type, path string) {
	switch n.Kind {
	case yaml.ScalarNode:
		c.add(n, path, `is %s, but must have fields: lines such as "name: value" below it, indented further`, what(n))
		return
	case yaml.SequenceNode:
		c.add(n, path, "is a list, but must have fields: %s", inStyle(n, "take the [ ] away", `take the "- " away`))
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
		} else if field := fields[key.Value]; field != nil {
			c.check(value, field, join(path, key.Value))
		} else if key.Value != "<<" {
			c.add(key, join(path, key.Value), "unknown field%s", c.hint(fields, path, key.Value))
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
		c.add(n, path, "%s", forms[t])
	case !errors.As(err, &wrong):
		c.add(n, path, "%s", err)
	case !strings.HasPrefix(wrong.Value, "number "):
		c.add(n, path, "is %s, but must be %s%s", what(n), called(t), remedy(n, t))
	case strings.Contains(wrong.Value, "."):
		c.add(n, path, "must be a whole number")
	case strings.HasPrefix(wrong.Value, "number -"):
		c.add(n, path, "is too small")
	default:
		c.add(n, path, "is too large: it goes up to %d", int64(1)<<(t.Bits()-1)-1)
	}
}

// remedy tells how a value becomes text, or text what is in it.
func remedy(n *yaml.Node, t reflect.Type) string {
	switch quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0; {
	case t.Kind() != reflect.String && quoted:
		return ": take the quotes away"
	case t.Kind() != reflect.String:
		return ""
	case n.Kind != yaml.ScalarNode:
		return inStyle(n, ": put it in single quotes", "")
	case n.Value == "true" || n.Value == "false": // a decoder may have made them of what was typed
		return ": put it in quotes; to YAML y, n, yes, no, on and off are true or false, too"
	}
	return ": put it in quotes, '" + n.Value + "'"
}

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

func item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
