package kubectl

import (
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
)

// print writes a value as --output says, in JSON or YAML.
func (o *options) print(value any) error {
	if o.output == "yaml" {
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = o.Out.Write(text)
		return err
	}
	return printJSON(o.Out, value)
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "    ")
	encoder.SetEscapeHTML(false) // keeps patterns readable
	return encoder.Encode(value)
}

// object is a JSON object.
type object = map[string]any

// sarif makes the part of SARIF 2.1.0 that code review tools read, see
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
func sarif(findings []lint.Finding) object {
	known, results := []object{}, []object{}
	for _, id := range slices.Sorted(maps.Keys(lint.Rules)) {
		known = append(known, object{"id": id, "shortDescription": object{"text": lint.Rules[id]}})
	}
	for _, f := range findings {
		place := object{
			"artifactLocation": object{"uri": filepath.ToSlash(f.File)},
			"region":           object{"startLine": f.Line, "startColumn": f.Column},
		}
		results = append(results, object{
			"ruleId": f.Rule, "level": severity(f), "message": object{"text": about(f, f.Message)},
			"locations": []object{{"physicalLocation": place}},
		})
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": "kubectl-regex", "rules": known}}, "results": results}},
	}
}
