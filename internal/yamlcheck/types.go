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
	"sigs.k8s.io/yaml/goyaml.v3"
)

// jsonOf is a value in JSON.
func jsonOf(n *yaml.Node) []byte {
	isTruth := n.Style == 0 && strings.ContainsAny(n.Value[:min(1, len(n.Value))], "yYnNoO")
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && !isTruth {
		text, _ := json.Marshal(n.Value)
		return text
	}
	text, err := Text{root: n}.JSON()
	if err != nil {
		return []byte("null") // which fits all
	}
	return text
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
