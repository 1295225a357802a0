// Package typed is about text that a person has typed: YAML with an object or
// several in it, or a scheduler's configuration. It takes the text apart, and says
// what is wrong with it and on which line, be it seen here or by the API server or
// the scheduler that refuses it. It is no API.
//
// It asks nobody and sends nothing: who applies the text does, and comes back with
// the refusal.
package typed

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Problem is something wrong with a text. Its line is 0 where that is not known.
type Problem = yamlcheck.Problem

// Document is an object as it was typed.
type Document struct {
	*unstructured.Unstructured
	yamlcheck.Part
	typed yamlcheck.Text
}

func newDocument(part yamlcheck.Part) Document {
	return Document{Unstructured: &unstructured.Unstructured{}, Part: part, typed: part.Parse()}
}

// Read takes YAML apart into its objects. Those with a problem are left out.
func Read(text string) (docs []Document, problems []Problem) {
	for _, part := range yamlcheck.Split(text) {
		d := newDocument(part)
		if wrong := d.decode(); len(wrong) > 0 {
			problems = append(problems, wrong...)
		} else if d.Object != nil {
			docs = append(docs, d)
		}
	}
	if len(docs) == 0 && len(problems) == 0 {
		problems = []Problem{{Line: 1, Message: "there is nothing here to apply"}}
	}
	return docs, problems
}

// decode reads the object, and finds what is wrong with it as far as that can be seen
// without asking the API server: all of it, at its lines.
func (d Document) decode() []Problem {
	if wrong := d.typed.Keys(); len(wrong) > 0 {
		return wrong
	}
	if wrong := syntax(d.Part); wrong != nil {
		return wrong
	}
	raw, err := yaml.YAMLToJSON([]byte(d.Text))
	if err != nil {
		return []Problem{{Line: d.First, Message: err.Error()}}
	}
	if json.Unmarshal(raw, &d.Object) != nil {
		return []Problem{{Line: d.First, Message: "this is not an object: it has no fields"}}
	}
	if d.Object == nil {
		return nil
	}
	for _, field := range []string{"apiVersion", "kind"} {
		switch value := d.Object[field].(type) {
		case nil:
			return []Problem{d.problem(field, "required: it says what this is")}
		case string:
		default:
			return []Problem{d.problem(field, fmt.Sprintf("must be text: %v says nothing", value))}
		}
	}
	object, err := scheme.Scheme.New(d.GroupVersionKind())
	switch {
	case err != nil:
		return d.unknownKind(d.GroupVersionKind())
	case d.GetKind() == "List":
		return []Problem{d.problem("kind", "no lists here: write the objects one after the other, with a line --- between them")}
	}
	return d.typed.Check(reflect.TypeOf(object))
}

// unknownKind guesses what is meant by a kind that is none of Kubernetes' own. If
// it guesses nothing the API server may know it.
func (d Document) unknownKind(gvk schema.GroupVersionKind) []Problem {
	var names []string
	for known := range scheme.Scheme.AllKnownTypes() {
		if known.Kind == gvk.Kind && known.Version == "v1" {
			return []Problem{d.problem("apiVersion", fmt.Sprintf("a %s has apiVersion: %s", gvk.Kind, known.GroupVersion()))}
		}
		if known.GroupVersion() == gvk.GroupVersion() && known.Version != runtime.APIVersionInternal {
			names = append(names, known.Kind)
		}
	}
	slices.Sort(names)
	if meant := yamlcheck.Closest(gvk.Kind, names); meant != "" && !strings.HasSuffix(meant, "List") {
		return []Problem{d.problem("kind", fmt.Sprintf("there is no %s in %s: do you mean %s?", gvk.Kind, gvk.GroupVersion(), meant))}
	}
	return nil
}

func (d Document) problem(field, message string) Problem {
	return Problem{Line: d.typed.Line(field), Field: field, Message: message}
}

// mentioned finds the line of the first value that a message speaks of, or else of
// the first field, or 0.
func (d Document) mentioned(message string) (line int) {
	const tooShort = 4 // letters: chance
	first := [2]int{len(message), len(message)}
	lines := [2]int{} // of values, and of fields
	var visit func(*goyaml.Node, int)
	visit = func(n *goyaml.Node, as int) {
		at := strings.Index(message, n.Value)
		if n.Kind == goyaml.ScalarNode && len(n.Value) >= tooShort && at >= 0 && at < first[as] {
			first[as], lines[as] = at, n.Line
		}
		for i, c := range n.Content {
			if n.Kind == goyaml.MappingNode && i%2 == 0 {
				visit(c, 1)
			} else {
				visit(c, 0)
			}
		}
	}
	if _, root := d.typed.Find(""); root != nil {
		visit(root, 0)
	}
	return cmp.Or(lines[0], lines[1])
}
