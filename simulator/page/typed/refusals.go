package typed

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
	details := cmp.Or(status.Details, &metav1.StatusDetails{})
	switch {
	case status.Reason == metav1.StatusReasonAlreadyExists:
		return []Problem{d.problem("metadata.name", d.taken(cmp.Or(details.Name, d.GetName())))}
	case status.Reason == metav1.StatusReasonNotFound && details.Kind == "namespaces":
		return []Problem{d.problem("metadata.namespace",
			fmt.Sprintf("there is no namespace %s: create it first, or take one that is there, such as default", details.Name))}
	case len(details.Causes) > 0:
		return d.causes(details.Causes)
	}
	message := forbidden.ReplaceAllString(status.Message, "")
	return []Problem{{Line: max(d.mentioned(message), d.First), Message: plain(message)}}
}

func (d Document) taken(name string) string {
	where := ""
	if d.GetNamespace() != "" {
		where = " in namespace " + d.GetNamespace()
	}
	return fmt.Sprintf("a %s called %s is there already%s: choose another name, or delete that one first", d.GetKind(), name, where)
}

// causes are the problems of a refusal. The API server repeats some.
func (d Document) causes(all []metav1.StatusCause) (problems []Problem) {
	for _, cause := range all {
		field := cause.Field
		if d.GetKind() == "Node" { // whose taints are named so
			field = strings.Replace(field, "metadata.taints", "spec.taints", 1)
		}
		p := d.problem(field, plain(cause.Message))
		value, _ := valueIn(cause.Message)
		if _, at := d.typed.Find(field); at != nil && value != "" {
			for _, n := range at.Content {
				if n.Value == value { // one of many labels
					p.Line = n.Line
				}
			}
		}
		if !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	return problems
}

// The API server sends what is wrong as text. This is its form.
var (
	// forbidden is before the message of an admission plugin.
	forbidden = regexp.MustCompile(`^[\w.]+ "[^"]*" is forbidden: `)
	// notPlain is before the message about a value that is null, JSON, or as Go prints it.
	notPlain = regexp.MustCompile(`(?s)^Invalid value: (null|[\[{].*[\]}]|[\w.\[\]*&]+[({].*[)}]): `)
	// unchangeable is in the message about a field that an update must leave as it is.
	unchangeable = regexp.MustCompile(`may not (be changed|change)|immutable|updates to .* are forbidden`)
)

// valueIn is the quoted value that a message is against, and what it says of it.
func valueIn(message string) (value, detail string) {
	rest, found := strings.CutPrefix(message, "Invalid value: ")
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil || !found {
		return "", message
	}
	value, _ = strconv.Unquote(quoted)
	return value, strings.TrimPrefix(rest[len(quoted):], ": ")
}

// plain takes out of a message what is for programs: the difference of two structs
// of Go, and values that are more than a word, up to whole objects.
func plain(message string) string {
	message = notPlain.ReplaceAllString(message, "")
	if value, detail := valueIn(message); len(value) > 200 && detail != "" {
		message = detail
	}
	message, _, _ = strings.Cut(message, "\n")
	return strings.TrimRight(message, " .")
}
