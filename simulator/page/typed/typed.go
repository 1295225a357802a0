// Package typed is about text that a person has typed: YAML with an object or
// several in it, or a scheduler's configuration. It takes the text apart, and says
// what is wrong with it and on which line, be it seen here or by the API server or
// the scheduler that refuses it.
//
// It asks nobody and sends nothing: who applies the text does, and comes back with
// the refusal.
package typed

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Problem is something wrong with a text.
type Problem struct {
	// Line is where, from 1, or 0 if that is not known.
	Line int
	// Field is a path such as spec.containers[0].name, or empty.
	Field   string
	Message string
}

// Document is an object as it was typed.
type Document struct {
	*unstructured.Unstructured
	text  string
	first int // the line of the whole text, from 1, on which it begins
}

// Read takes YAML apart into its objects. Those with a problem are left out.
func Read(text string) ([]Document, []Problem) {
	var docs []Document
	var problems []Problem
	for _, d := range split(text) {
		d.Unstructured = &unstructured.Unstructured{}
		typed := yamlcheck.Parse([]byte(d.text))
		if wrong := typed.Keys(); len(wrong) > 0 {
			problems = append(problems, d.located(wrong)...)
			continue
		}
		raw, err := yaml.YAMLToJSONStrict([]byte(d.text))
		if err != nil {
			problems = append(problems, yamlProblem(err, d))
			continue
		}
		if string(raw) == "null" {
			continue
		}
		var object map[string]any
		if err := json.Unmarshal(raw, &object); err != nil {
			problems = append(problems, Problem{Line: d.first, Message: "this is not an object: it has no fields"})
			continue
		}
		d.Object = object
		if wrong := mistakes(d, typed); len(wrong) > 0 {
			problems = append(problems, wrong...)
			continue
		}
		docs = append(docs, d)
	}
	if len(docs) == 0 && len(problems) == 0 {
		problems = []Problem{{Line: 1, Message: "there is nothing here to apply"}}
	}
	return docs, problems
}

// split cuts a text at the lines that separate YAML documents.
func split(text string) []Document {
	var docs []Document
	for _, part := range yamlcheck.Split(text) {
		docs = append(docs, Document{text: part.Text, first: part.First})
	}
	return docs
}
