package edited

import (
	"errors"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
)

// ConfigProblems are the problems in an error of [scheduler.Read], or of a scheduler, about a
// configuration.
func ConfigProblems(text string, err error) (problems []Problem) {
	var mistakes scheduler.Mistakes
	if !errors.As(err, &mistakes) {
		wrong := syntax(text)
		if wrong != nil {
			return wrong
		}
		mistakes = scheduler.Mistakes{{Err: errors.New(strings.TrimPrefix(err.Error(), "scheduler: "))}}
	}
	for _, e := range mistakes {
		problems = append(problems, Problem{Line: e.Line, Field: e.Field, Message: e.Err.Error()})
	}
	return problems
}
