package kubectl

import (
	"maps"
	"path/filepath"
	"slices"
)

// The part of SARIF 2.1.0 that code review pages read, see
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPlace `json:"physicalLocation"`
	}
	sarifPlace struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
)

func sarif(findings []finding) sarifLog {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "kubectl-regex"}}, Results: []sarifResult{}}
	for _, id := range slices.Sorted(maps.Keys(rules)) {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: id, ShortDescription: sarifText{rules[id]}})
	}
	for _, f := range findings {
		level := "error"
		if f.Warning {
			level = "warning"
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, Level: level, Message: sarifText{f.Object + ": " + f.Message},
			Locations: []sarifLocation{{sarifPlace{
				sarifArtifact{filepath.ToSlash(f.File)}, sarifRegion{f.Line, f.Column},
			}}},
		})
	}
	return sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}
}
