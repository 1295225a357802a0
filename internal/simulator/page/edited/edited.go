// Package edited reads the text of an editor: YAML of one or several objects, or a
// scheduler's configuration. It finds problems and their lines: its own, and
// the ones in an error of the API server or of the scheduler.
//
// It sends nothing: the caller applies the text, and passes the error.
package edited

import (
	"fmt"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Problem is an error in a text. Its line is 0 if that is not known.
type Problem = yamlcheck.Problem

// Document is an object and its text.
type Document struct {
	*unstructured.Unstructured
	yamlcheck.Text
}

// Read decodes the objects of a YAML text. It skips those with a problem.
func Read(text string) (docs []Document, problems []Problem) {
	texts, _ := yamlcheck.Documents([]byte(text))
	for _, one := range texts {
		d := Document{&unstructured.Unstructured{}, one}
		wrong := d.decode()
		if len(wrong) > 0 {
			problems = append(problems, wrong...)
		} else {
			docs = append(docs, d)
		}
	}
	problems = append(problems, syntax(text)...)
	if len(docs) == 0 && len(problems) == 0 {
		problems = []Problem{{Line: 1, Message: "the text has no objects"}}
	}
	return docs, problems
}

// decode decodes the object, and returns all its problems that do not need the API server.
func (d Document) decode() []Problem {
	wrong := d.Keys()
	if len(wrong) > 0 {
		return wrong
	}
	raw, err := d.JSON()
	if err != nil {
		return d.problem("", "%s", err)
	}
	if json.Unmarshal(raw, &d.Object) != nil {
		return d.problem("", "not an object: it has no fields")
	}
	for _, field := range []string{"apiVersion", "kind"} {
		switch value := d.Object[field].(type) {
		case nil:
			return d.problem(field, "required")
		case string:
		default:
			return d.problem(field, "must be a string, not %v", value)
		}
	}
	object, err := scheme.Scheme.New(d.GroupVersionKind())
	switch {
	case err != nil:
		return nil // the API server knows whether it has this kind
	case d.GetKind() == "List":
		return d.problem("kind", "a List is not supported: separate the objects by a line ---")
	}
	return d.Check(object)
}

func (d Document) problem(field, format string, args ...any) []Problem {
	return []Problem{{Line: d.Line(field), Field: field, Message: fmt.Sprintf(format, args...)}}
}

// parserLine is the position in an error of the YAML parser, which has no field for it.
var parserLine = regexp.MustCompile(`line (\d+): `)

// syntax is the syntax error of a text that is not YAML.
func syntax(text string) []Problem {
	_, err := yamlcheck.Documents([]byte(text))
	if err == nil {
		return nil
	}
	line := 1
	at := parserLine.FindStringSubmatch(err.Error())
	if at != nil {
		line, _ = strconv.Atoi(at[1])
	}
	return []Problem{{Line: line, Message: parserLine.ReplaceAllString(err.Error(), "")}}
}
