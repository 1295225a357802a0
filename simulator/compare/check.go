package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
)

// SideError is why one of the sides cannot be compared.
type SideError struct {
	Side  string // A or B
	Title string // its label, or else its name
	Err   error
}

func (e SideError) Error() string { return e.Title + ": " + e.Err.Error() }

func (e SideError) Unwrap() error { return e.Err }

// SideErrors are those of one side or of both.
type SideErrors []SideError

func (e SideErrors) Error() string {
	all := make([]string, len(e))
	for i := range e {
		all[i] = e[i].Error()
	}
	return strings.Join(all, "; ")
}

func (e SideErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i := range e {
		all[i] = e[i]
	}
	return all
}

func (s *Side) title() string { return cmp.Or(s.Label, s.Name) }

// check looks at both configurations, as far as that can be done without a cluster.
func (o *Options) check(ctx context.Context) error {
	var wrong SideErrors
	for _, one := range []struct {
		letter string
		*Side
	}{{"A", &o.A}, {"B", &o.B}} {
		o.say(0, one.letter, "checks the configuration", 0, 0)
		err := simulator.CheckSchedulerConfig(ctx, one.Config)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			wrong = append(wrong, SideError{Side: one.letter, Title: one.title(), Err: located(err)})
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// mistakes is an error of a configuration, with the lines that it is about.
type mistakes struct{ scheduler.Mistakes }

func (m mistakes) Error() string {
	slices.SortStableFunc(m.Mistakes, func(a, b *scheduler.FieldError) int { return cmp.Compare(a.Line, b.Line) })
	all := make([]string, len(m.Mistakes))
	for i, e := range m.Mistakes {
		all[i] = fmt.Sprintf("line %d: %v", max(1, e.Line), e)
	}
	return strings.Join(all, "; ")
}

// located puts before what is wrong with a field the line on which it stands.
func located(err error) error {
	if all := (scheduler.Mistakes)(nil); errors.As(err, &all) {
		return mistakes{all}
	}
	return err
}
