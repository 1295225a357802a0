package page

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// document is an object as it was typed.
type document struct {
	*unstructured.Unstructured
	text  string
	first int // the line of the whole text, from 1, on which it begins
}

// read takes typed YAML apart into its objects.
func read(text string) ([]document, []problem) {
	var docs []document
	var problems []problem
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
			problems = append(problems, problem{Line: d.first, Message: "this is not an object: it has no fields"})
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
		problems = []problem{{Line: 1, Message: "there is nothing here to apply"}}
	}
	return docs, problems
}

// split cuts a text at the lines that separate YAML documents.
func split(text string) []document {
	var docs []document
	for _, part := range yamlcheck.Split(text) {
		docs = append(docs, document{text: part.Text, first: part.First})
	}
	return docs
}

// print writes an object as YAML.
func print(o map[string]any) (string, error) {
	raw, err := yaml.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("print as YAML: %w", err)
	}
	return string(raw), nil
}
