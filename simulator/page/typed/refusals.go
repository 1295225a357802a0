package typed

import (
	"cmp"
	"errors"
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
		return d.problem("kind", "this cluster knows no %s in %s", d.GetKind(), d.GetAPIVersion())
	}
	var refused apierrors.APIStatus
	if !errors.As(err, &refused) {
		return []Problem{{Message: err.Error()}}
	}
	status := refused.Status()
	details := cmp.Or(status.Details, &metav1.StatusDetails{})
	switch {
	case status.Reason == metav1.StatusReasonAlreadyExists:
		where := ""
		if d.GetNamespace() != "" {
			where = " in namespace " + d.GetNamespace()
		}
		return d.problem("metadata.name", "a %s called %s is there already%s: choose another name, or delete that one first",
			d.GetKind(), cmp.Or(details.Name, d.GetName()), where)
	case status.Reason == metav1.StatusReasonNotFound && details.Kind == "namespaces":
		return d.problem("metadata.namespace", "there is no namespace %s: create it first, or take one that is there, such as default", details.Name)
	case len(details.Causes) > 0:
		return d.causes(details.Causes)
	}
	message := forbidden.ReplaceAllString(status.Message, "")
	return []Problem{{Line: max(mentioned(message, d.Text), d.Line("")), Message: plain(message)}}
}

// causes are the problems of a refusal. The API server repeats some.
func (d Document) causes(all []metav1.StatusCause) (problems []Problem) {
	for _, cause := range all {
		field := cause.Field
		if d.GetKind() == "Node" { // whose taints are named so
			field = strings.Replace(field, "metadata.taints", "spec.taints", 1)
		}
		p := d.problem(field, "%s", plain(cause.Message))[0]
		if _, at := d.Find(field); at != nil {
			for _, n := range at.Content {
				if strings.HasPrefix(cause.Message, "Invalid value: "+strconv.Quote(n.Value)) { // one of many labels
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
	// notPlain is before the message about a value that is null, JSON, as Go prints it,
	// or a long text.
	notPlain = regexp.MustCompile(`(?s)^Invalid value: (null|[\[{].*[\]}]|[\w.\[\]*&]+[({].*[)}]|"([^"\\]|\\.){200,}"): `)
	// unchangeable is in the message about a field that an update must leave as it is.
	unchangeable = regexp.MustCompile(`may not (be changed|change)|immutable|updates to .* are forbidden`)
)

// plain takes out of a message what is for programs: the difference of two structs
// of Go, and values that are more than a word, up to whole objects.
func plain(message string) string {
	message, _, _ = strings.Cut(notPlain.ReplaceAllString(message, ""), "\n")
	return strings.TrimRight(message, " .")
}
