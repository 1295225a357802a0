// Package private reaches private fields of kube-scheduler. Each use says what is missing
// without the field, and a test fails then.
package private

import (
	"reflect"
	"unsafe"
)

// Field returns the address of a private field of the struct that of points to, or nil if
// it points to none, or the struct has no such field of this type. It looks into frameworks
// that others stand around.
func Field[T any](of any, name string) *T {
	impl := reflect.Indirect(reflect.ValueOf(of))
	if impl.Kind() != reflect.Struct {
		return nil
	}
	inside := impl.FieldByName("Framework")
	if inside.IsValid() {
		return Field[T](inside.Interface(), name)
	}
	field := impl.FieldByName(name)
	if !field.IsValid() || !field.CanAddr() || field.Type() != reflect.TypeFor[T]() {
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
