package yamlcheck

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/api/resource"
)

// hugeExponent is in the quantities with which Kubernetes' arithmetic does not end: 1e-99999999 takes minutes to parse, 1e99999999
// to be compared with another, or added to it.
var hugeExponent = regexp.MustCompile(`^[+-]?[0-9.]+[eE][+-]?[0-9]{4,}$`)

// Quantities rejects such quantities in the JSON of a value. Other text may look like one. It has to be called before the JSON is
// decoded.
func Quantities(raw []byte, of reflect.Type) error {
	tokens := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := tokens.ReadToken()
		if err != nil {
			return nil // at the end; what else is wrong, the decoder says
		}
		scalar := token.Kind() == '"' || token.Kind() == '0'
		if scalar && hugeExponent.MatchString(token.String()) && isQuantity(of, tokens.StackPointer()) {
			return Problems{{Field: pathOf(tokens.StackPointer()), Message: "the exponent of quantity " + token.String() + " is out of range"}}
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
