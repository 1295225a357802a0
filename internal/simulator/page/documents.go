package page

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// problem is an error in a text. Its line is 0 if that is not known.
type problem = yamlcheck.Problem

// problems are an error that a form shows beside its text.
type problems []problem

func (p problems) Error() string { return p[0].Message }

// problemsOf are the problems of an error.
func problemsOf(err error) problems {
	var all problems
	if err != nil && !errors.As(err, &all) {
		all = problems{{Message: err.Error()}}
	}
	return all
}

// document is an object and its text.
type document struct {
	*unstructured.Unstructured
	yamlcheck.Text
}

// readDocuments decodes the objects of a YAML text. It skips those with a problem.
func readDocuments(text string) (docs []document, wrong problems) {
	texts, _ := yamlcheck.Documents([]byte(text))
	for _, one := range texts {
		d := document{&unstructured.Unstructured{}, one}
		found := d.decode()
		if len(found) > 0 {
			wrong = append(wrong, found...)
		} else {
			docs = append(docs, d)
		}
	}
	wrong = append(wrong, syntax(text)...)
	if len(docs) == 0 && len(wrong) == 0 {
		wrong = problems{{Line: 1, Message: "the text has no objects"}}
	}
	return docs, wrong
}

// decode decodes the object, and returns all its problems that do not need the API server.
func (d document) decode() problems {
	wrong := d.Keys()
	if len(wrong) > 0 {
		return problems(wrong)
	}
	raw, err := d.JSON()
	if err != nil {
		return d.problem("", "%s", err)
	}
	if json.Unmarshal(raw, &d.Object) != nil {
		return d.problem("", "not an object: it has no fields")
	}
	for _, field := range []string{"apiVersion", "kind"} {
		value, ok := d.Object[field].(string)
		if !ok || value == "" {
			return d.problem(field, "required, as a string")
		}
	}
	object, err := scheme.Scheme.New(d.GroupVersionKind())
	if err != nil {
		return nil // the API server knows whether it has this kind
	}
	return problems(d.Check(object))
}

func (d document) problem(field, format string, args ...any) problems {
	return problems{{Line: d.Line(field), Field: field, Message: fmt.Sprintf(format, args...)}}
}

// parserLine is the position in an error of the YAML parser, which has no field for it.
var parserLine = regexp.MustCompile(`line (\d+): `)

// syntax is the syntax error of a text that is not YAML.
func syntax(text string) problems {
	_, err := yamlcheck.Documents([]byte(text))
	if err == nil {
		return nil
	}
	line := 1
	at := parserLine.FindStringSubmatch(err.Error())
	if at != nil {
		line, _ = strconv.Atoi(at[1])
	}
	return problems{{Line: line, Message: parserLine.ReplaceAllString(err.Error(), "")}}
}

// otherObject has a problem for each field by which an edit names another object.
func otherObject(before, after []document) (wrong problems) {
	if len(before) != 1 || len(after) != 1 {
		return problems{{Message: fmt.Sprintf("this form edits one object; the text has %d", len(after))}}
	}
	for _, field := range []string{"apiVersion", "kind", "metadata.namespace", "metadata.name"} {
		was, _, _ := unstructured.NestedString(before[0].Object, strings.Split(field, ".")...)
		is, _, _ := unstructured.NestedString(after[0].Object, strings.Split(field, ".")...)
		if was != is {
			wrong = append(wrong, after[0].problem(field, "must stay %s: use New for another object", was)...)
		}
	}
	return wrong
}

// problems are the problems in an error of the API server about the document.
func (d document) problems(err error) problems {
	if meta.IsNoMatchError(err) {
		return d.problem("kind", "the API server has no kind %s in %s", d.GetKind(), d.GetAPIVersion())
	}
	var refused apierrors.APIStatus
	if !errors.As(err, &refused) {
		return problems{{Message: err.Error()}}
	}
	status := refused.Status()
	details := cmp.Or(status.Details, &metav1.StatusDetails{})
	switch {
	case status.Reason == metav1.StatusReasonAlreadyExists:
		return d.problem("metadata.name", "%s", status.Message)
	case status.Reason == metav1.StatusReasonNotFound && details.Kind == "namespaces":
		return d.problem("metadata.namespace", "%s", status.Message)
	case len(details.Causes) > 0:
		return d.causes(details.Causes)
	}
	return d.problem("", "%s", plain(forbidden.ReplaceAllString(status.Message, "")))
}

// causes are the problems of an error, each once.
func (d document) causes(all []metav1.StatusCause) (wrong problems) {
	for _, cause := range all {
		field := cause.Field
		if d.GetKind() == "Node" { // whose taints have this path
			field = strings.Replace(field, "metadata.taints", "spec.taints", 1)
		}
		p := d.problem(field, "%s", plain(cause.Message))[0]
		if !slices.Contains(wrong, p) {
			wrong = append(wrong, p)
		}
	}
	return wrong
}

// The API server sends problems as text, of these forms.
var (
	// forbidden precedes the message of an admission plugin.
	forbidden = regexp.MustCompile(`^[\w.]+ "[^"]*" is forbidden: `)
	// notPlain precedes the message about a value that is null, JSON, printed by Go, or long.
	notPlain = regexp.MustCompile(`(?s)^Invalid value: (null|[\[{].*[\]}]|[\w.\[\]*&]+[({].*[)}]|"([^"\\]|\\.){200,}"): `)
)

// plain removes from a message what is for programs: the difference of two Go structs, and
// values that are more than a word.
func plain(message string) string {
	message, _, _ = strings.Cut(notPlain.ReplaceAllString(message, ""), "\n")
	return strings.TrimRight(message, " .")
}
