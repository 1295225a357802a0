// Package typed is about text that a person has typed: YAML with an object or
// several in it, or a scheduler's configuration. It takes the text apart, and says
// what is wrong with it and on which line, be it seen here or by the API server or
// the scheduler that refuses it. It is no API.
//
// It asks nobody and sends nothing: who applies the text does, and comes back with
// the refusal.
package typed

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Problem is something wrong with a text. Its line is 0 where that is not known.
type Problem = yamlcheck.Problem

// Document is an object as it was typed.
type Document struct {
	*unstructured.Unstructured
	yamlcheck.Text
}

// Read takes YAML apart into its objects. Those with a problem are left out.
func Read(text string) (docs []Document, problems []Problem) {
	texts, _ := yamlcheck.Documents([]byte(text))
	for _, one := range texts {
		d := Document{&unstructured.Unstructured{}, one}
		if wrong := d.decode(); len(wrong) > 0 {
			problems = append(problems, wrong...)
		} else {
			docs = append(docs, d)
		}
	}
	problems = append(problems, syntax(text)...)
	if len(docs) == 0 && len(problems) == 0 {
		problems = []Problem{{Line: 1, Message: "there is nothing here to apply"}}
	}
	return docs, problems
}

// decode reads the object, and finds what is wrong with it as far as that can be seen
// without asking the API server: all of it, at its lines.
func (d Document) decode() []Problem {
	if wrong := d.Keys(); len(wrong) > 0 {
		return wrong
	}
	raw, err := d.JSON()
	if err != nil {
		return d.problem("", "%s", err)
	}
	if json.Unmarshal(raw, &d.Object) != nil {
		return d.problem("", "this is not an object: it has no fields")
	}
	for _, field := range []string{"apiVersion", "kind"} {
		switch value := d.Object[field].(type) {
		case nil:
			return d.problem(field, "required: it says what this is")
		case string:
		default:
			return d.problem(field, "must be text: %v says nothing", value)
		}
	}
	object, err := scheme.Scheme.New(d.GroupVersionKind())
	switch {
	case err != nil:
		return d.unknownKind()
	case d.GetKind() == "List":
		return d.problem("kind", "no lists here: write the objects one after the other, with a line --- between them")
	}
	return d.Check(object)
}

// unknownKind guesses what is meant by a kind that Kubernetes does not have. In a group
// that is none of its own the API server may know it.
func (d Document) unknownKind() []Problem {
	kind, versions := d.GroupVersionKind(), map[string]string{} // by kind
	for known := range scheme.Scheme.AllKnownTypes() {
		if known.Version == "v1" && !strings.HasSuffix(known.Kind, "List") {
			versions[known.Kind] = known.GroupVersion().String()
		}
	}
	meant := yamlcheck.Closest(kind.Kind, slices.Sorted(maps.Keys(versions)))
	if meant == "" || !scheme.Scheme.IsGroupRegistered(kind.Group) {
		return nil
	}
	return d.problem("kind", "there is no %s in %s: do you mean %s, of apiVersion %s?", kind.Kind, kind.GroupVersion(), meant, versions[meant])
}

func (d Document) problem(field, format string, args ...any) []Problem {
	return []Problem{{Line: d.Line(field), Field: field, Message: fmt.Sprintf(format, args...)}}
}

// mentioned finds the line of the first value that a message speaks of, or else of
// the first field, or 0.
func mentioned(message string, in yamlcheck.Text) (line int) {
	const tooShort = 4 // letters: chance
	first := 2 * len(message)
	var visit func(*yaml.Node, bool)
	visit = func(n *yaml.Node, isField bool) {
		at := strings.Index(message, n.Value)
		found := n.Kind == yaml.ScalarNode && len(n.Value) >= tooShort && at >= 0
		if isField {
			at += len(message)
		}
		if found && at < first {
			first, line = at, n.Line
		}
		for i, c := range n.Content {
			visit(c, n.Kind == yaml.MappingNode && i%2 == 0)
		}
	}
	if _, root := in.Find(""); root != nil {
		visit(root, false)
	}
	return line
}
