package typed

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
)

// ConfigMistakes is what can be seen to be wrong with a scheduler's configuration
// without a scheduler.
func ConfigMistakes(text string) []Problem {
	d := Document{text: strings.ReplaceAll(text, "\r\n", "\n"), first: 1}
	if wrong := yamlcheck.Parse([]byte(d.text)).Keys(); len(wrong) > 0 {
		return d.located(wrong)
	}
	var object map[string]any
	if err := yaml.Unmarshal([]byte(d.text), &object); err != nil && !strings.Contains(err.Error(), "cannot unmarshal") {
		return []Problem{yamlProblem(err, d)}
	}
	var written []Document
	for _, part := range split(d.text) {
		var content any
		if yaml.Unmarshal([]byte(part.text), &content) == nil && content != nil {
			written = append(written, part)
		}
	}
	if len(written) > 1 {
		return []Problem{{Line: written[1].first - 1, Message: "a configuration is one document: take this line out, and what is below it if that is another one"}}
	}
	return nil
}

// ConfigRefusal is what a scheduler has against its configuration, at the lines that
// it is about.
func ConfigRefusal(text string, err error) (problems []Problem) {
	d := Document{text: text, first: 1}
	var mistakes scheduler.Mistakes
	if !errors.As(err, &mistakes) {
		return []Problem{{Line: d.mentioned(err.Error()), Message: err.Error()}}
	}
	for _, e := range mistakes {
		p := Problem{Line: e.Line, Field: e.Field, Message: e.Err.Error()}
		if p.Line == 0 {
			p.Line = d.mentioned(p.Message)
		}
		problems = append(problems, p)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return problems
}
