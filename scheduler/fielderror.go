package scheduler

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// FieldError is an error about one field of a configuration.
type FieldError struct {
	// Field is a path such as profiles[0].pluginConfig[1].args.guestURL.
	Field string
	// Message says what is wrong, for who sees which field is meant.
	Message string
	// whole is set where the message says by itself what it is about.
	whole error
}

func (e *FieldError) Error() string {
	if e.whole != nil {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

func (e *FieldError) Unwrap() error { return e.whole }

// about says which field an error is about, which names its subject by itself.
func about(path string, err error) error {
	return &FieldError{Field: path, Message: err.Error(), whole: err}
}

// FieldErrors are all the errors about fields that an error is made of. One about no
// field that stands beside those has none.
func FieldErrors(err error) []*FieldError {
	switch e := err.(type) {
	case nil:
		return nil
	case *FieldError:
		return []*FieldError{e}
	case interface{ Unwrap() []error }:
		var all []*FieldError
		located := false
		for _, err := range e.Unwrap() {
			found := FieldErrors(err)
			located = located || len(found) > 0
			if len(found) == 0 {
				found = []*FieldError{{Message: err.Error(), whole: err}}
			}
			all = append(all, found...)
		}
		if !located {
			return nil
		}
		return all
	}
	return FieldErrors(errors.Unwrap(err))
}

// several are errors that are told on one line.
type several []error

func (s several) Error() string {
	all := make([]string, len(s))
	for i, err := range s {
		all[i] = err.Error()
	}
	return strings.Join(all, "; ")
}

func (s several) Unwrap() []error { return s }

// together is nil if there is no error among these.
func together(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	return several(errs)
}

// below turns problems with a part of the configuration into errors.
func below(path string, problems yamlcheck.Problems) error {
	var errs []error
	for _, p := range problems {
		where := p.Field
		if path != "" {
			where = strings.TrimSuffix(path+"."+p.Field, ".")
		}
		errs = append(errs, &FieldError{Field: where, Message: p.Message})
	}
	return together(errs...)
}

// invalid turns what kube-scheduler's own validation finds into errors. It prints
// the values that it is against as Go does, which is of use for plain ones only.
func invalid(errs []error) error {
	var located []error
	for _, err := range errs {
		var wrong *field.Error
		if !errors.As(err, &wrong) {
			located = append(located, err)
			continue
		}
		located = append(located, &FieldError{Field: wrong.Field, Message: words(wrong)})
	}
	return together(located...)
}

func words(wrong *field.Error) string {
	if path, ok := wrong.BadValue.(*field.Path); ok && wrong.Type == field.ErrorTypeDuplicate {
		return fmt.Sprintf("is the same as %s: give each its own", path)
	}
	if wrong.Type == field.ErrorTypeDuplicate {
		return fmt.Sprintf("%v stands here twice: take one of the two away", wrong.BadValue)
	}
	switch reflect.ValueOf(wrong.BadValue).Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice:
		if wrong.Detail != "" {
			return wrong.Detail
		}
		return wrong.Type.String()
	}
	return wrong.ErrorBody()
}
