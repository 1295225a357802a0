package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
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
			wrong = append(wrong, SideError{Side: one.letter, Title: one.title(), Err: located(one.Config, err)})
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// mistakes is an error of a configuration, with the lines that it is about.
type mistakes struct {
	error
	lines string
}

func (m mistakes) Error() string { return m.lines }

func (m mistakes) Unwrap() error { return m.error }

// located puts before what is wrong with a field the line on which it stands.
func located(config []byte, err error) error {
	type mistake struct {
		line int
		text string
	}
	var all []mistake
	typed := yamlcheck.Parse(config)
	for _, field := range scheduler.FieldErrors(err) {
		line, _ := typed.Find(field.Field)
		all = append(all, mistake{line, fmt.Sprintf("line %d: %v", line, field)})
	}
	if len(all) == 0 {
		return err
	}
	slices.SortStableFunc(all, func(a, b mistake) int { return cmp.Compare(a.line, b.line) })
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].text
	}
	return mistakes{err, strings.Join(texts, "; ")}
}
