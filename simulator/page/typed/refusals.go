package typed

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refusal is what the API server has against a document, at the lines that it is
// about.
func (d Document) Refusal(err error) []Problem {
	if meta.IsNoMatchError(err) {
		return []Problem{d.problem("kind", fmt.Sprintf("this cluster knows no %s in %s", d.GetKind(), d.GetAPIVersion()))}
	}
	var refused apierrors.APIStatus
	if !errors.As(err, &refused) {
		return []Problem{{Message: err.Error()}}
	}
	status := refused.Status()
	details := status.Details
	if details == nil {
		details = &metav1.StatusDetails{}
	}
	switch {
	case status.Reason == metav1.StatusReasonAlreadyExists:
		return []Problem{d.problem("metadata.name", taken(d, cmp.Or(details.Name, d.GetName())))}
	case status.Reason == metav1.StatusReasonNotFound && details.Kind == "namespaces":
		return []Problem{d.problem("metadata.namespace",
			fmt.Sprintf("there is no namespace %s: create it first, or take one that is there, such as default", details.Name))}
	case len(details.Causes) > 0:
		return d.causes(details.Causes)
	}
	message := forbidden.ReplaceAllString(status.Message, "")
	return []Problem{{Line: max(d.mentioned(message), d.first), Message: plain(message)}}
}

// forbidden is how the API server begins what an admission plugin says.
var forbidden = regexp.MustCompile(`^[\w.]+ "[^"]*" is forbidden: `)

func taken(d Document, name string) string {
	where := ""
	if d.GetNamespace() != "" {
		where = " in namespace " + d.GetNamespace()
	}
	return fmt.Sprintf("a %s called %s is there already%s: choose another name, or delete that one first",
		d.GetKind(), name, where)
}

func (d Document) problem(field, message string) Problem {
	return Problem{Line: d.line(field), Field: field, Message: message}
}

// causes are told once, however often the API server says them.
func (d Document) causes(all []metav1.StatusCause) []Problem {
	var problems []Problem
	for _, cause := range all {
		field := cause.Field
		if d.GetKind() == "Node" { // whose taints are named so
			field = strings.Replace(field, "metadata.taints", "spec.taints", 1)
		}
		value, _ := valueIn(cause.Message)
		p := Problem{Line: d.lineOf(field, value), Field: field, Message: plain(cause.Message)}
		if !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	return problems
}

const invalidValue = "Invalid value: "

// valueIn is the quoted value that a message is against, and what it says of it.
func valueIn(message string) (value, detail string) {
	quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(message, invalidValue))
	if err != nil || !strings.HasPrefix(message, invalidValue) {
		return "", message
	}
	value, _ = strconv.Unquote(quoted)
	return value, strings.TrimPrefix(message[len(invalidValue)+len(quoted):], ": ")
}

// goValue is how the API server prints a value that has no JSON.
var goValue = regexp.MustCompile(`(?s)^Invalid value: [\w.\[\]*&]+[({].*[)}]: `)

// withoutJSON takes out of a message a value that is an object, a list, or null.
func withoutJSON(message string) string {
	rest, ok := strings.CutPrefix(message, invalidValue)
	if !ok || strings.IndexAny(rest, "{[n") != 0 {
		return message
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(rest))
	if decoder.Decode(&value) != nil {
		return message
	}
	if detail, ok := strings.CutPrefix(rest[decoder.InputOffset():], ": "); ok {
		return detail
	}
	return message
}

// plain takes out of a message what is for programs: the difference of two structs
// of Go, and values that are more than a word, up to whole objects.
func plain(message string) string {
	message = withoutJSON(goValue.ReplaceAllString(message, ""))
	if value, detail := valueIn(message); len(value) > 200 && detail != "" {
		message = detail
	}
	message, _, _ = strings.Cut(message, "\n")
	return strings.TrimRight(message, " .")
}
