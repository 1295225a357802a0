// Package private reaches private fields of kube-scheduler. Each use says what is missing
// without the field, and a test fails then.
package private

import (
	"reflect"
	"unsafe"
)

// Field returns the address of a private field of the struct that of points to, or nil if
// it points to none, or the struct has no such field of this type.
func Field[T any](of any, name string) *T {
	impl := reflect.ValueOf(of)
	if impl.Kind() != reflect.Pointer || impl.Elem().Kind() != reflect.Struct {
		return nil
	}
	field := impl.Elem().FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() {
		return nil
	}
	return (*T)(unsafe.Pointer(field.UnsafeAddr()))
}

// Wrap puts something around each element of a private list.
func Wrap[E any](of any, list string, wrapped func(E) E) {
	elements := Field[[]E](of, list)
	if elements != nil {
		for i, element := range *elements {
			(*elements)[i] = wrapped(element)
		}
	}
}
