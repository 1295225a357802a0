package edited

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

// Problems are the problems in an error of the API server about a document.
func (d Document) Problems(err error) []Problem {
	if meta.IsNoMatchError(err) {
		return d.problem("kind", "the API server has no kind %s in %s", d.GetKind(), d.GetAPIVersion())
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
		return d.problem("metadata.name", "%s %s already exists%s: choose another name, or delete it first",
			d.GetKind(), cmp.Or(details.Name, d.GetName()), where)
	case status.Reason == metav1.StatusReasonNotFound && details.Kind == "namespaces":
		return d.problem("metadata.namespace", "namespace %s does not exist: create it first, or use another one, such as default", details.Name)
	case len(details.Causes) > 0:
		return d.causes(details.Causes)
	}
	message := forbidden.ReplaceAllString(status.Message, "")
	return []Problem{{Line: d.Line(""), Message: plain(message)}}
}

// causes are the problems of an error, each once.
func (d Document) causes(all []metav1.StatusCause) (problems []Problem) {
	for _, cause := range all {
		field := cause.Field
		if d.GetKind() == "Node" { // whose taints have this path
			field = strings.Replace(field, "metadata.taints", "spec.taints", 1)
		}
		p := d.problem(field, "%s", plain(cause.Message))[0]
		_, at := d.Find(field)
		if at != nil {
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

// The API server sends problems as text, of these forms.
var (
	// forbidden precedes the message of an admission plugin.
	forbidden = regexp.MustCompile(`^[\w.]+ "[^"]*" is forbidden: `)
	// notPlain precedes the message about a value that is null, JSON, printed by Go, or long.
	notPlain = regexp.MustCompile(`(?s)^Invalid value: (null|[\[{].*[\]}]|[\w.\[\]*&]+[({].*[)}]|"([^"\\]|\\.){200,}"): `)
	// immutable is in the message about a field that an update must not change.
	immutable = regexp.MustCompile(`may not (be changed|change)|immutable|updates to .* are forbidden`)
)

// plain removes from a message what is for programs: the difference of two Go structs, and
// values that are more than a word.
func plain(message string) string {
	message, _, _ = strings.Cut(notPlain.ReplaceAllString(message, ""), "\n")
	return strings.TrimRight(message, " .")
}
