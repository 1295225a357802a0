package side

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestReadScenarioReportsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "no steps",
		"steps: []":                 "no steps",
		"steps: [{name: one}]":      "step one: nothing is done in it",
		"steps:\n- make: [{}]":      "line 2: ",
		"steps: [{create: [{}]}]":   "step 1: create[0]: an object needs apiVersion, kind and metadata.name",
		"steps: [{create: [text]}]": "create[0]",
		"steps: [{create: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}]}]": "a Deployment makes no pods here",
		"steps: {create: []}":       "steps",
		"steps: [{delete: [{kind: ": "yaml",
	} {
		_, err := ReadScenario([]byte(text))
		testkit.ErrorHas(t, err, want)
	}
}

func TestScenarioInTheDocsIsOne(t *testing.T) {
	text, err := os.ReadFile("../../../docs/compare.md")
	testkit.Must(t, err)
	_, text, _ = bytes.Cut(text, []byte("\n## A scenario\n"))
	block := regexp.MustCompile(`(?m)^    steps:\n(?:    .*\n)+`).Find(text)
	scenario, err := ReadScenario([]byte(strings.ReplaceAll("\n"+string(block), "\n    ", "\n")))
	if err != nil || len(scenario.Steps) != 2 {
		t.Fatalf("%v in %s", err, block)
	}
}
