package page

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

// problem is something wrong with a typed text.
type problem struct {
	// Line is where, from 1, or 0 if that is not known.
	Line int
	// Field is a path such as spec.containers[0].name, or empty.
	Field   string
	Message string
}

func asProblem(err error) problem { return problem{Message: err.Error()} }

// refusal is what the API server has against a document, at the lines that it is
// about.
func refusal(d document, err error) []problem {
	if meta.IsNoMatchError(err) {
		return []problem{d.problem("kind", fmt.Sprintf("this cluster knows no %s in %s", d.GetKind(), d.GetAPIVersion()))}
	}
	var refused apierrors.APIStatus
	if !errors.As(err, &refused) {
		return []problem{asProblem(err)}
	}
	status := refused.Status()
	details := status.Details
	if details == nil {
		details = &metav1.StatusDetails{}
	}
	switch {
	case status.Reason == metav1.StatusReasonAlreadyExists:
		return []problem{d.problem("metadata.name", taken(d, cmp.Or(details.Name, d.GetName())))}
	case status.Reason == metav1.StatusReasonNotFound && details.Kind == "namespaces":
		return []problem{d.problem("metadata.namespace",
			fmt.Sprintf("there is no namespace %s: create it first, or take one that is there, such as default", details.Name))}
	case len(details.Causes) > 0:
		return d.causes(details.Causes)
	}
	message := forbidden.ReplaceAllString(status.Message, "")
	return []problem{{Line: max(d.mentioned(message), d.first), Message: plain(message)}}
}

// forbidden is how the API server begins what an admission plugin says.
var forbidden = regexp.MustCompile(`^[\w.]+ "[^"]*" is forbidden: `)

func taken(d document, name string) string {
	where := ""
	if d.GetNamespace() != "" {
		where = " in namespace " + d.GetNamespace()
	}
	return fmt.Sprintf("a %s called %s is there already%s: choose another name, or delete that one first",
		d.GetKind(), name, where)
}

func (d document) problem(field, message string) problem {
	return problem{Line: d.line(field), Field: field, Message: message}
}

// causes are told once, however often the API server says them.
func (d document) causes(all []metav1.StatusCause) []problem {
	var problems []problem
	for _, cause := range all {
		field := cause.Field
		if d.GetKind() == "Node" { // whose taints are named so
			field = strings.Replace(field, "metadata.taints", "spec.taints", 1)
		}
		value, _ := valueIn(cause.Message)
		p := problem{Line: d.lineOf(field, value), Field: field, Message: plain(cause.Message)}
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

// editRefusal is refusal for a changed object. What must not be changed is shown
// where it was.
func editRefusal(before, after document, err error) []problem {
	var problems []problem
	for _, p := range refusal(after, err) {
		changed := changedAt(before, after, p.Field)
		if !unchangeable.MatchString(p.Message) || len(changed) == 0 {
			problems = append(problems, p)
			continue
		}
		for _, field := range changed {
			problems = append(problems, after.problem(field, p.Message+afresh(after)))
		}
	}
	return problems
}

// changedAt are the changes below a field or, where there are none because the API
// server calls it otherwise than people do, below the nearest one around it.
func changedAt(before, after document, field string) []string {
	for field != "" {
		if changed := changes(field, at(before, field), at(after, field)); len(changed) > 0 {
			return changed
		}
		field = field[:max(0, strings.LastIndexByte(field, '.'))]
	}
	return nil
}

var unchangeable = regexp.MustCompile(`may not (be changed|change)|immutable|updates to .* are forbidden`)

func afresh(d document) string {
	return fmt.Sprintf("; to have it otherwise, delete the %s and create it anew", d.GetKind())
}

// at is the value at a path without indices, or nil.
func at(d document, path string) any {
	var value any = d.Object
	for key := range strings.SplitSeq(path, ".") {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return value
}
