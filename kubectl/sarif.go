package kubectl

import (
	"maps"
	"path/filepath"
	"slices"
)

// object is a JSON object.
type object = map[string]any

// sarif makes the part of SARIF 2.1.0 that code review tools read, see
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
func sarif(findings []finding) object {
	known, results := []object{}, []object{}
	for _, id := range slices.Sorted(maps.Keys(rules)) {
		known = append(known, object{"id": id, "shortDescription": object{"text": rules[id]}})
	}
	for _, f := range findings {
		place := object{"artifactLocation": object{"uri": filepath.ToSlash(f.File)}}
		if f.Line > 0 {
			place["region"] = object{"startLine": f.Line, "startColumn": f.Column}
		}
		results = append(results, object{
			"ruleId": f.Rule, "level": f.severity(), "message": object{"text": f.about()},
			"locations": []object{{"physicalLocation": place}},
		})
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": "kubectl-regex", "rules": known}}, "results": results}},
	}
}
