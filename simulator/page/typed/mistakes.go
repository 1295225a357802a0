package typed

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// mistakes are what is wrong with a document as far as that can be seen without
// asking the API server: all of it, at its lines.
func mistakes(d Document, typed yamlcheck.Text) []Problem {
	for _, field := range []string{"apiVersion", "kind"} {
		switch value := d.Object[field].(type) {
		case nil:
			return []Problem{d.problem(field, "required: it says what this is")}
		case string:
		default:
			return []Problem{d.problem(field, fmt.Sprintf("must be text: %v says nothing", value))}
		}
	}
	gvk := d.GroupVersionKind()
	object, err := scheme.Scheme.New(gvk)
	if err != nil {
		return unknownKind(d, gvk)
	}
	if d.GetKind() == "List" {
		return []Problem{d.problem("kind", "no lists here: write the objects one after the other, with a line --- between them")}
	}
	return d.located(typed.Check(reflect.TypeOf(object)))
}

// located are problems of a document in the lines of the whole text.
func (d Document) located(found yamlcheck.Problems) []Problem {
	var problems []Problem
	for _, p := range found {
		problems = append(problems, Problem{Line: d.first + p.Line - 1, Field: p.Field, Message: p.Message})
	}
	return problems
}

// unknownKind guesses what is meant by a kind that is none of Kubernetes' own. If
// it guesses nothing the API server may know it.
func unknownKind(d Document, gvk schema.GroupVersionKind) []Problem {
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
