package typed

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
)

// ConfigRefusal is what is wrong with a scheduler's configuration, at the lines that
// it is about: an error of [scheduler.Read], or of a scheduler.
func ConfigRefusal(text string, err error) (problems []Problem) {
	d := newDocument(yamlcheck.Part{Text: text, First: 1})
	var mistakes scheduler.Mistakes
	if !errors.As(err, &mistakes) {
		if wrong := syntax(d.Part); wrong != nil {
			return wrong
		}
		message := strings.TrimPrefix(err.Error(), "scheduler: ")
		return []Problem{{Line: d.mentioned(message), Message: message}}
	}
	for _, e := range mistakes {
		line := e.Line
		if line == 0 {
			line = d.mentioned(e.Err.Error())
		}
		problems = append(problems, Problem{Line: line, Field: e.Field, Message: e.Err.Error()})
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return problems
}
