package kubescheduler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// FieldError is an error about one field of a configuration, or about none of them.
type FieldError struct {
	// Field is a path such as profiles[0].pluginConfig[1].args.guestURL, or empty.
	Field string
	// Line is the line where the field is or should be, from 1. It is 0 without a field.
	Line int
	// Err says what is wrong.
	Err error

	named bool // Err says what it is about, so that Error does not add the field
}

func (e *FieldError) Error() string {
	if e.named || e.Field == "" {
		return e.Err.Error()
	}
	return e.Field + ": " + e.Err.Error()
}

func (e *FieldError) Unwrap() error { return e.Err }

// Mistakes are an error that reports all mistakes in a configuration on one line.
type Mistakes []*FieldError

func (m Mistakes) Error() string {
	all := make([]string, len(m))
	for i, e := range m {
		all[i] = e.Error()
	}
	return strings.Join(all, "; ")
}

// add adds a mistake whose message does not name the field.
func (m *Mistakes) add(field, format string, args ...any) {
	*m = append(*m, &FieldError{Field: field, Err: fmt.Errorf(format, args...)})
}

// addNamed adds a mistake whose message says what it is about.
func (m *Mistakes) addNamed(field, format string, args ...any) {
	*m = append(*m, &FieldError{Field: field, Err: fmt.Errorf(format, args...), named: true})
}

// addArgs adds an error of the args at a path, or of their guest. It is about the field that a
// [wasmhost.ArgsError] has, or else about the given one.
func (m *Mistakes) addArgs(path, field string, err error) {
	about := (*wasmhost.ArgsError)(nil)
	if errors.As(err, &about) {
		field = about.Field
	}
	m.addNamed(strings.TrimSuffix(path+"."+field, "."), "%w", err)
}

func (m *Mistakes) addGuests(failed []failure) {
	for _, f := range failed {
		m.addArgs(f.path, "guestURL", f.err)
	}
}

func below(path string, problems yamlcheck.Problems) (m Mistakes) {
	for _, p := range problems {
		m.add(strings.Trim(path+"."+p.Field, "."), "%s", p.Message)
		m[len(m)-1].Line = p.Line
	}
	return m
}

// located gives mistakes their lines, and sorts them by line. It returns nil if there are none.
func (m Mistakes) located(in *Configuration) error {
	if len(m) == 0 {
		return nil
	}
	for _, e := range m {
		if e.Field != "" && e.Line == 0 {
			e.Line = in.text.Line(e.Field)
		}
	}
	slices.SortStableFunc(m, func(a, b *FieldError) int { return cmp.Compare(a.Line, b.Line) })
	return m
}

// WithLines adds to an error the line of each mistake in a configuration. Other errors stay as they are.
func WithLines(err error) error {
	mistakes := Mistakes(nil)
	if !errors.As(err, &mistakes) {
		return err
	}
	var lines []string
	for _, m := range mistakes {
		lines = append(lines, fmt.Sprintf("line %d: %v", max(1, m.Line), m))
	}
	return errors.New(strings.Join(lines, "; "))
}
