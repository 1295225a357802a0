package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// listed writes problems as they are expected: a line for each.
func listed(problems []problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, strings.Join(strings.Fields(fmt.Sprintf("%d %s | %s", p.Line, p.Field, p.Message)), " "))
	}
	return strings.Join(all, "\n")
}

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
  - name: web
    image: web
`

// with inserts lines after one of the pod's.
func with(after, more string) string { return strings.Replace(pod, after, after+more, 1) }

func TestProblemsOfAnObjectHaveTheirLines(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"two mistakes in two objects", with("name: a\n", "  nam: b\n") + "---\napiVersion: v1\nkind: Node\nmeta: {}\n", "5 metadata.nam | unknown field: do you mean \"name\"?\n13 meta | unknown field"},
		{"a version that is a number", strings.Replace(pod, "v1", "1", 1), "1 apiVersion | required, as a string"},
		{"no kind", "apiVersion: v1\n", "1 kind | required, as a string"},
		{"a tab", strings.Replace(pod, "  name: a", "\tname: a", 1), "4 | yaml: found character that cannot start any token"},
		{"a line that is indented by chance", with("name: a\n", "   namespace: b\n"), `5 | yaml: mapping values are not allowed in this context`},
		{
			"a pattern between double quotes", with("name: a\n", "  annotations:\n    r: \"kubecon-\\d\"\n"),
			"6 | yaml: found unknown escape character",
		},

		{"no YAML objects", "hello\n", "1 | not an object: it has no fields"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := readDocuments(tt.text)
			testkit.Equal(t, listed(problems), tt.want, "the problems")
		})
	}
}

func TestTextsAreReadObjectByObject(t *testing.T) {
	docs, problems := readDocuments("# nothing\n---\n" + pod + "---\nkind: Pod\n---\na: b\n---\n\tx: y\n")
	if len(docs) != 1 || docs[0].GetName() != "a" || docs[0].Line("") != 3 {
		t.Errorf("read %v", docs)
	}
	want := "12 apiVersion | required, as a string\n16 | yaml: found character that cannot start any token"
	testkit.Equal(t, listed(problems), want, "the problems")
	_, problems = readDocuments("# only a comment\n")
	testkit.Equal(t, listed(problems), "1 | the text has no objects", "the problems of nothing at all")
}

// unwritable has no JSON, so that Go prints it.
type unwritable struct{ F func() }

// refused is an answer of the API server to a request with an invalid object.
func refused(kind string, errs ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: kind}, "a", errs)
}

func TestErrorsOfTheAPIServerAreShortAndHaveTheirLines(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	spec := field.NewPath("spec")
	for _, tt := range []struct {
		name string
		text string
		err  error
		want string
	}{
		{"a name that is taken", pod, apierrors.NewAlreadyExists(pods, "a"), `4 metadata.name | pods "a" already exists`},
		{
			"a namespace that there is not", with("name: a\n", "  namespace: missing\n"),
			apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "missing"),
			`5 metadata.namespace | namespaces "missing" not found`,
		},
		{
			"what an admission plugin is against", with("spec:\n", "  priorityClassName: nope\n"),
			apierrors.NewForbidden(pods, "a", errors.New("no PriorityClass with name nope was found")),
			"1 | no PriorityClass with name nope was found",
		},

		{
			"a label, said twice", with("name: a\n", "  labels:\n    y: b c\n"),
			refused("Pod", field.Invalid(field.NewPath("metadata", "labels"), "b c", "must be so"), field.Invalid(field.NewPath("metadata", "labels"), "b c", "must be so")),
			`5 metadata.labels | Invalid value: "b c": must be so`,
		},

		{
			"a value that is an object", pod, refused("Pod", field.Invalid(spec, v1.PodSpec{NodeName: "x"}, "must match: it")),
			"5 spec | must match: it",
		},
		{
			"a struct that Go prints", pod, refused("Pod", field.Invalid(spec, unwritable{F: func() {}}, "must match: it")),
			"5 spec | must match: it",
		},
		{
			"an edit of what must stay", pod, refused("Pod", field.Forbidden(spec, "pod updates may not change fields other than `spec.containers[*].image`\n  core.PodSpec{\n- \tNodeName: \"\"\n+ \tNodeName: \"x\"")),
			"5 spec | Forbidden: pod updates may not change fields other than `spec.containers[*].image`",
		},
		{
			"a node's taint", "apiVersion: v1\nkind: Node\nspec:\n  taints:\n  - key: a\n    effect: Now\n",
			refused("Node", field.NotSupported(field.NewPath("metadata", "taints").Index(0).Child("effect"), "Now", []string{"NoSchedule"})),
			`6 spec.taints[0].effect | Unsupported value: "Now": supported values: "NoSchedule"`,
		},
		{
			"a kind that there is not", "apiVersion: example.com/v1\nkind: Thing\n",
			&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "example.com", Kind: "Thing"}, SearchedVersions: []string{"v1"}},
			"2 kind | the API server has no kind Thing in example.com/v1",
		},
		{"a connection that breaks", pod, errors.New("connection refused"), "0 | connection refused"},
		{
			"a server that says nothing of use", pod,
			&apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusTeapot, Message: "no"}}, "1 | no",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			docs, problems := readDocuments(tt.text)
			if len(docs) != 1 {
				t.Fatal(listed(problems))
			}
			testkit.Equal(t, listed(docs[0].problems(tt.err)), tt.want, "the problems")
		})
	}
}

func TestEditOfTheNameIsRejected(t *testing.T) {
	before, _ := readDocuments(pod)
	for text, want := range map[string]string{
		strings.Replace(pod, "name: a", "name: b", 1):         "4 metadata.name | must stay a: use New for another object",
		strings.Replace(pod, "metadata:\n  name: a\n", "", 1): "1 metadata.name | must stay a: use New for another object",
	} {
		after, _ := readDocuments(text)
		testkit.Equal(t, listed(otherObject(before, after)), want, "the problems")
	}
}
