package recorder

import (
	"reflect"
	"unsafe"

	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

// private returns the address of a private field of the scheduler's framework, or nil if
// it has no such field of this type. Each use says what is missing without the field, and
// a test fails then.
func private[T any](fwk schedframework.Framework, name string) *T {
	impl := reflect.ValueOf(fwk)
	if impl.Kind() != reflect.Pointer || impl.Elem().Kind() != reflect.Struct {
		return nil
	}
	field := impl.Elem().FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() {
		return nil
	}
	return (*T)(unsafe.Pointer(field.UnsafeAddr()))
}
