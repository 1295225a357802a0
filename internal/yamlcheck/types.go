package yamlcheck

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// valueOf is a scalar as the decoders of Kubernetes read it: nil, a string, a bool
// or a float64. Whatever is no scalar is none of these.
func valueOf(n *goyaml.Node) any {
	if n.Kind != goyaml.ScalarNode {
		return n
	}
	if n.Style&^goyaml.TaggedStyle != 0 || n.Tag == "!!str" && n.Style != 0 {
		return n.Value // in quotes, or a block
	}
	if n.Tag == "!!str" && !strings.ContainsAny(n.Value[:min(1, len(n.Value))], "yYnNoO") {
		return n.Value // else it may be a yes, a no, an on or an off
	}
	var value any
	if yaml.Unmarshal([]byte(n.Value), &value) != nil {
		return n.Value
	}
	switch value.(type) {
	case nil, bool, float64:
		return value
	}
	return n.Value
}

var (
	raw         = reflect.TypeFor[runtime.RawExtension]()
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

// forms are for types whose own errors are not for people.
var forms = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity](): "is no quantity: write a number, perhaps with a unit directly after it, such as 2, 500m or 1Gi",
	reflect.TypeFor[metav1.Duration]():   "is no duration: write a number with a unit directly after it, such as 500ms, 5s or 1m",
}

// readsItself knows the types that decode themselves, and says what is wrong with a
// value for one, or nothing. What a plugin's args must be is for others to say.
func readsItself(n *goyaml.Node, t reflect.Type) (ok bool, message string) {
	if t == raw || !reflect.PointerTo(t).Implements(unmarshaler) {
		return t == raw, ""
	}
	var value any
	if n.Decode(&value) != nil {
		return true, ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return true, ""
	}
	if err := json.Unmarshal(text, reflect.New(t).Interface()); err != nil {
		return true, cmp.Or(forms[t], err.Error())
	}
	return true, ""
}

// fieldsOf are the fields of a struct by the names that they have in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case name == "" && field.Anonymous && field.Type.Kind() == reflect.Struct:
			maps.Copy(fields, fieldsOf(field.Type))
		default:
			fields[cmp.Or(name, field.Name)] = field.Type
		}
	}
	return fields
}
