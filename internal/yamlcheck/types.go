package yamlcheck

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"

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
	quantity    = reflect.TypeFor[resource.Quantity]()
	duration    = reflect.TypeFor[metav1.Duration]()
	raw         = reflect.TypeFor[runtime.RawExtension]()
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

// special knows the types that read themselves, and says what is wrong with a
// value for one, or nothing.
func special(n *goyaml.Node, t reflect.Type) (ok bool, message string) {
	switch {
	case t == raw: // what is in it is for others to say
		return true, ""
	case t == quantity:
		if _, err := resource.ParseQuantity(n.Value); n.Kind != goyaml.ScalarNode || err != nil {
			return true, "is no quantity: write a number, perhaps with a unit directly after it, such as 2, 500m or 1Gi"
		}
		return true, ""
	case t == duration:
		if _, err := time.ParseDuration(n.Value); n.Kind != goyaml.ScalarNode || err != nil {
			return true, "is no duration: write a number with a unit directly after it, such as 500ms, 5s or 1m"
		}
		return true, ""
	case !reflect.PointerTo(t).Implements(unmarshaler):
		return false, ""
	}
	var value any
	if n.Decode(&value) != nil {
		return true, ""
	}
	typed, err := json.Marshal(value)
	if err != nil {
		return true, ""
	}
	if err := json.Unmarshal(typed, reflect.New(t).Interface()); err != nil {
		return true, err.Error()
	}
	return true, ""
}

// known are the fields of the structs that were asked for before.
var known sync.Map // of map[string]reflect.Type, by reflect.Type

// fieldsOf are the fields of a struct by the names that they have in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if fields, ok := known.Load(t); ok {
		return fields.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case name == "" && field.Anonymous && field.Type.Kind() == reflect.Struct:
			maps.Copy(fields, fieldsOf(field.Type))
		case name == "":
			fields[field.Name] = field.Type
		default:
			fields[name] = field.Type
		}
	}
	known.Store(t, fields)
	return fields
}
