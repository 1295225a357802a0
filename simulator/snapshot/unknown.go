package snapshot

import (
	"fmt"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// unknown are the fields of objects that are not known here, by the kind of these.
type unknown map[unknownField]*unknownIn

type unknownField struct{ title, path string }

// unknownIn are the objects that have an unknown field.
type unknownIn struct {
	first string
	all   int
}

// index is of a list's element in a path.
var index = regexp.MustCompile(`\[\d+\]`)

// add notes what decoding an object found.
func (u unknown) add(kind Kind, object metav1.Object, found []error) {
	seen := map[unknownField]bool{}
	for _, err := range found {
		field, ok := err.(kjson.FieldError)
		if !ok {
			continue
		}
		at := unknownField{kind.Title, index.ReplaceAllString(field.FieldPath(), "[]")}
		if seen[at] {
			continue
		}
		seen[at] = true
		if u[at] == nil {
			u[at] = &unknownIn{first: qualified(object)}
		}
		u[at].all++
	}
}

// notices are one for each field.
func (u unknown) notices() []Notice {
	var all []Notice
	for field, in := range u {
		about := field.title + " " + in.first
		if in.all > 1 {
			about += fmt.Sprintf(" and %d more", in.all-1)
		}
		all = append(all, Notice{About: about, Reason: field.path + ": left out: the Kubernetes of this simulator has no such field"})
	}
	sortNotices(all)
	return all
}
