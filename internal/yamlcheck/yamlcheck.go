// Package yamlcheck finds the mistakes in YAML that a person has written, each with
// its field and its line. It decodes as Kubernetes does, strictly.
//
// It knows types, not meaning: the API server or the scheduler may still reject what
// it finds no mistake in.
package yamlcheck

import (
	"cmp"
	"encoding"
	encodingjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/pmezard/go-difflib/difflib"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Problem is a mistake.
type Problem struct {
	// Field is a path such as spec.containers[0].name.
	Field string
	// Line is where it is, from 1. It is 0 where only JSON is known.
	Line    int
	Message string
	// Unknown is true if there is no such field.
	Unknown bool
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

// maxWrong bounds how many problems are reported: each costs another decoding.
const maxWrong = 20

// Decode decodes JSON into a pointer, and returns all mistakes: unknown fields, and values
// of a wrong type. Kubernetes' decoder decides. It stops at the first wrong value, and says of
// some not where it is: the other decoder finds that.
func Decode(raw []byte, into any) (all Problems) {
	huge := Quantities(raw, reflect.TypeOf(into))
	if errors.As(huge, &all) {
		return all
	}
	for range maxWrong {
		unknown, err := kjson.UnmarshalStrict(raw, into, kjson.DisallowUnknownFields)
		err = cmp.Or(err, errors.Join(unknown...))
		if err == nil {
			return all
		}
		again := reflect.New(reflect.TypeOf(into).Elem()).Interface()
		var wrong *json.SemanticError
		if !errors.As(json.Unmarshal(raw, again, jsontext.AllowDuplicateNames(true), json.RejectUnknownMembers(true)), &wrong) {
			return append(all, Problem{Message: err.Error()})
		}
		unknownField := errors.Is(wrong.Err, json.ErrUnknownName)
		all = append(all, Problem{Field: pathOf(wrong.JSONPointer), Message: message(*wrong), Unknown: unknownField})
		raw = without(raw, wrong.JSONPointer)
		if raw == nil {
			return all
		}
	}
	return all
}

// Args is the JSON of what a configuration says to a plugin, as a plugin factory gets it.
func Args(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return []byte("{}"), nil
	}
	unknown, ok := obj.(*runtime.Unknown)
	if !ok {
		return nil, fmt.Errorf("they are a %T", obj)
	}
	if unknown.ContentType == runtime.ContentTypeYAML {
		return yaml.YAMLToJSONStrict(unknown.Raw)
	}
	return unknown.Raw, nil
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

// message is what the decoder says of a value, without the path.
func message(e json.SemanticError) string {
	if errors.Is(e.Err, json.ErrUnknownName) {
		meant := Closest(e.JSONPointer.LastToken(), fieldsOf(e.GoType))
		if meant != "" {
			return fmt.Sprintf("unknown field: do you mean %q?", meant)
		}
		return "unknown field"
	}
	// The words of e.Error differ between processes, on purpose.
	text := "expected " + expected(e.GoType) + ", found " + found[e.JSONKind]
	if expected(e.GoType) == found[e.JSONKind] {
		text = "invalid value"
	}
	if len(e.JSONValue) > 0 && len(e.JSONValue) < maxShown {
		text += " " + string(e.JSONValue)
	}
	wrongTime := (*time.ParseError)(nil)
	wrongKind := (*encodingjson.UnmarshalTypeError)(nil) // of which the text says already what was expected and found
	switch {
	case errors.As(e.Err, &wrongKind):
	case e.JSONKind == '[' || e.JSONKind == '{':
	case expected(e.GoType) == "a string" && e.Err == nil:
		text += ": put it in quotes"
	case errors.As(e.Err, &wrongTime):
		text += fmt.Sprintf(" %q", wrongTime.Value)
	case e.Err != nil && !errors.Is(e.Err, strconv.ErrSyntax) && !errors.Is(e.Err, resource.ErrFormatWrong):
		text += ": " + strings.TrimPrefix(e.Err.Error(), "time: ")
	}
	return text
}

// maxShown bounds a value in a message, in bytes.
const maxShown = 100

var found = map[jsontext.Kind]string{'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "a list"}

// expected is what a person calls the values of a type.
func expected(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, fromText := reflect.New(t).Interface().(encoding.TextUnmarshaler)
	switch {
	case ofType[t] != "":
		return ofType[t]
	case fromText, t.Kind() == reflect.String:
		return "a string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

var ofType = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():  "a quantity such as 500m or 1Gi",
	reflect.TypeFor[metav1.Duration]():    "a duration such as 1m30s",
	reflect.TypeFor[metav1.Time]():        "a time such as 2026-01-02T15:04:05Z",
	reflect.TypeFor[metav1.MicroTime]():   "a time such as 2026-01-02T15:04:05.000000Z",
	reflect.TypeFor[intstr.IntOrString](): "a number or a string",
}

// fieldsOf are the names in JSON of the fields of a struct.
func fieldsOf(t reflect.Type) (names []string) {
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			names = append(names, fieldsOf(field.Type)...)
		} else if field.IsExported() && name != "-" {
			names = append(names, cmp.Or(name, field.Name))
		}
	}
	return names
}

// Closest is the name that another one is probably a misspelling of, or empty.
func Closest(name string, names []string) (closest string) {
	most := 0.75 // of the letters, in the same order
	for _, other := range names {
		letters := difflib.NewMatcher(strings.Split(strings.ToLower(name), ""), strings.Split(strings.ToLower(other), ""))
		ratio := letters.Ratio()
		if ratio > most && max(len(name), len(other))-min(len(name), len(other)) <= 2 {
			closest, most = other, ratio
		}
	}
	return closest
}
