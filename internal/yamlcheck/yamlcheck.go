// Package yamlcheck finds the mistakes in YAML that a person has written, each with
// its field and its line. It decodes as Kubernetes does, strictly. It is not an API.
//
// It knows types, not meaning: the API server or the scheduler may still reject what
// it finds no mistake in.
package yamlcheck

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// Problem is a mistake.
type Problem struct {
	// Field is a path such as spec.containers[0].name.
	Field string
	// Line is where it is, from 1. It is 0 where only JSON is known.
	Line    int
	Message string
}

// Problems are an error that names all of them.
type Problems []Problem

func (p Problems) Error() string {
	all := make([]string, len(p))
	for i, problem := range p {
		all[i] = strings.TrimPrefix(problem.Field+": "+problem.Message, ": ")
	}
	return strings.Join(all, "; ")
}

// Check decodes the text into a pointer, and returns all mistakes with their lines.
func (t Text) Check(into any) Problems {
	if t.root == nil {
		return nil
	}
	raw, err := t.JSON()
	if err != nil {
		return Problems{{Line: t.root.Line, Message: err.Error()}}
	}
	problems := Decode(raw, into)
	for i := range problems {
		problems[i].Line = t.Line(problems[i].Field)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return problems
}

// maxWrong bounds how many values of a wrong type are reported: each costs another decoding.
const maxWrong = 20

// Decode decodes JSON into a pointer, and returns all mistakes: unknown fields, and values
// of a wrong type. Kubernetes' decoder stops at the first of these, and says of some not
// where it is: the other decoder finds that.
func Decode(raw []byte, into any) (all Problems) {
	target := reflect.TypeOf(into).Elem()
	for range maxWrong {
		unknown, err := kjson.UnmarshalStrict(raw, into, kjson.DisallowUnknownFields)
		if err == nil {
			return append(all, unknownFields(unknown, target)...)
		}
		var wrong *json.SemanticError
		if !errors.As(json.Unmarshal(raw, reflect.New(target).Interface(), jsontext.AllowDuplicateNames(true)), &wrong) {
			return append(all, Problem{Message: err.Error()})
		}
		all = append(all, Problem{Field: pathOf(wrong.JSONPointer), Message: misfit(wrong)})
		if raw = without(raw, wrong.JSONPointer); raw == nil {
			return all
		}
	}
	return all
}

// pathOf writes a pointer as Kubernetes writes a path.
func pathOf(pointer jsontext.Pointer) (path string) {
	for name := range pointer.Tokens() {
		if isIndex.MatchString(name) {
			path += "[" + name + "]"
		} else {
			path += "." + name
		}
	}
	return strings.TrimPrefix(path, ".")
}

var isIndex = regexp.MustCompile(`^\d+$`)

// without is JSON without a value. In a list, null takes its place, so that the others keep
// theirs. It is nil where that value is all that there is.
func without(raw []byte, pointer jsontext.Pointer) []byte {
	op := "remove"
	if isIndex.MatchString(pointer.LastToken()) {
		op = "replace"
	}
	patch, err := jsonpatch.DecodePatch(fmt.Appendf(nil, `[{"op": %q, "path": %q, "value": null}]`, op, pointer))
	if err != nil {
		return nil
	}
	less, _ := patch.Apply(raw)
	return less
}

// called are the kinds of values of JSON.
var called = map[jsontext.Kind]string{
	'{': "an object", '[': "a list", '"': "text", '0': "a number", 't': "true or false to YAML", 'f': "true or false to YAML", 'n': "null",
}

// misfit says what is wrong with a value.
func misfit(e *json.SemanticError) string {
	t := element(e.GoType)
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		return "is not a valid quantity: use a number, with a unit directly after it if it has one, such as 2, 500m or 1Gi"
	case t == reflect.TypeFor[metav1.Duration]():
		return "is not a valid duration: use a number with a unit directly after it, such as 500ms, 5s or 1m"
	case t.Kind() == reflect.String:
		return fmt.Sprintf("is %s, but must be text: put it in single quotes", called[e.JSONKind])
	case e.JSONKind == '0' && t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		most := int64(math.MaxInt64) >> (64 - t.Bits())
		return fmt.Sprintf("must be a whole number from %d to %d", -most-1, most)
	case e.Err != nil:
		return e.Err.Error()
	}
	must := "a number"
	switch e.GoType.Kind() {
	case reflect.Bool:
		must = "true or false"
	case reflect.Slice:
		must = `a list: begin each item with "- "`
	case reflect.Struct, reflect.Map:
		must = `an object: lines such as "name: value" below it, indented further`
	}
	return fmt.Sprintf("is %s, but must be %s", called[e.JSONKind], must)
}
