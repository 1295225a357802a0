package snapshot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// anObject is as how many elements of lists an object of a snapshot counts: by memory.
const anObject = 4

// elements counts those of the lists in a document, at whatever depth, up to what is
// no JSON, and the document.
func elements(document []byte) (n int) {
	n = anObject
	if bytes.IndexByte(document, '[') < 0 {
		return n
	}
	tokens := jsontext.NewDecoder(bytes.NewBuffer(document), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if tokens.PeekKind() == ']' {
			depth := tokens.StackDepth()
			_, length := tokens.StackIndex(depth)
			if depth == 2 { // of the document's own fields
				length *= anObject
			}
			n += int(length)
		}
		if _, err := tokens.ReadToken(); err != nil {
			return n
		}
	}
}

// add decodes an object, and notes what of it is not known.
func (in *reading) add(kind Kind, raw []byte) error {
	one := kind.Example()
	if err := checkQuantities(raw, reflect.TypeOf(one)); err != nil {
		return err
	}
	found, err := kjson.UnmarshalStrict(raw, one, kjson.DisallowUnknownFields)
	if err != nil {
		return cmp.Or(unmarshal(raw, one), err)
	}
	pod, isPod := one.(*v1.Pod)
	switch {
	case one.GetName() == "" && one.GetGenerateName() == "":
		return errors.New("no metadata.name: perhaps the file is cut off")
	case isPod && len(pod.Spec.Containers) == 0 && len(found) == 0: // else they are misspelt, which is said of all such fields
		return fmt.Errorf("%s has no spec.containers: perhaps the file is cut off", qualified(pod))
	}
	if one.GetNamespace() == "" && kind.Namespaced() {
		one.SetNamespace(metav1.NamespaceDefault) // as kubectl does with a manifest
	}
	one.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as an API server lists them
	kind.append(&in.Snapshot, one)
	for _, err := range found {
		var field kjson.FieldError
		if errors.As(err, &field) {
			in.unknown.add(kind.Title, index.ReplaceAllString(field.FieldPath(), "[]"), qualified(one))
		}
	}
	return nil
}

// hugeExponent is in the quantities with which Kubernetes' arithmetic does not end: 1e-99999999 takes minutes to parse, 1e99999999
// to be added to another.
var hugeExponent = regexp.MustCompile(`^[+-]?[0-9.]+[eE][+-]?[0-9]{4,}$`)

// checkQuantities refuses such quantities in the JSON of an object. A label may look like one.
func checkQuantities(raw []byte, of reflect.Type) error {
	tokens := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := tokens.ReadToken()
		if err != nil {
			return nil // at the end; what else is wrong, the decoder says
		}
		scalar := token.Kind() == '"' || token.Kind() == '0'
		if scalar && hugeExponent.MatchString(token.String()) && isQuantity(of, tokens.StackPointer()) {
			return fmt.Errorf("%s: the exponent of quantity %s is out of range", tokens.StackPointer(), token)
		}
	}
}

// isQuantity says whether the value at a place in an object of a type is a quantity.
func isQuantity(of reflect.Type, at jsontext.Pointer) bool {
	for name := range at.Tokens() {
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		switch of.Kind() {
		case reflect.Slice, reflect.Map:
			of = of.Elem()
		case reflect.Struct:
			fields := reflect.VisibleFields(of)
			i := slices.IndexFunc(fields, func(f reflect.StructField) bool {
				tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				return tag == name
			})
			if i < 0 {
				return false
			}
			of = fields[i].Type
		default:
			return false
		}
	}
	return of == reflect.TypeFor[resource.Quantity]() || of == reflect.TypeFor[*resource.Quantity]()
}

var index = regexp.MustCompile(`\[\d+\]`)

// unmarshal decodes JSON, and says of what does not fit where it is.
func unmarshal(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	problems := yamlcheck.Decode(raw, reflect.New(reflect.TypeOf(into).Elem()).Interface())
	if len(problems) > 0 {
		return problems[:1]
	}
	return err
}

// isWhole rejects what was cut in two. YAML that ends early is YAML.
func (in *reading) isWhole() error {
	has, says := in.Objects(), in.Source
	if says != nil && has < says.Objects {
		return fmt.Errorf("the file is cut off: it says that it has %d objects, and has %d; if you took some out, correct source.objects", says.Objects, has)
	}
	return nil
}

// grouped are objects that one notice is about, by what it says of them: their kind, and
// what else they have in common.
type grouped map[[2]string][]string

func (g grouped) add(kind, common, object string) {
	at := [2]string{kind, common}
	n := len(g[at])
	if n == 0 || g[at][n-1] != object {
		g[at] = append(g[at], object)
	}
}

// Grouped are notices of which those about a kind with the same reason are one.
func Grouped(notices []Notice) []Notice {
	all := slices.Clone(notices)
	sortNotices(all)
	g := grouped{}
	for _, n := range all {
		at := strings.LastIndex(n.About, " ")
		g.add(n.About[:max(0, at)], Reason(n.Reason), n.About[at+1:])
	}
	return g.notices("")
}

func (g grouped) notices(more string) (all []Notice) {
	for at, objects := range g {
		about := strings.TrimSpace(at[0] + " " + objects[0])
		if len(objects) > 1 {
			about += fmt.Sprintf(" and %d more", len(objects)-1)
		}
		all = append(all, Notice{About: about, Reason: at[1] + more})
	}
	sortNotices(all)
	return all
}
