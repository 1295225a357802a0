package page

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestConfigurationIsNamedByItsGuestsAndExtenders(t *testing.T) {
	for config, want := range map[string]string{
		"profiles:\n- pluginConfig:\n  - name: X\n    args:\n      guestURL: http://a/b.wasm\n":                                                  "b.wasm (not enabled)",
		"profiles:\n- plugins: {multiPoint: {enabled: [{name: X}]}}\n  pluginConfig:\n  - name: X\n    args:\n      guestURL: http://a/b.wasm\n": "b.wasm",
		"profiles:\n- plugins: {filter: {enabled: [{name: RegexScheduling}]}}\n  pluginConfig: [{name: RegexScheduling, args: {}}]\n":            "RegexScheduling",
		"profiles:\n- pluginConfig: [{name: RegexScheduling, args: {}}]\n":                                                                       "RegexScheduling (not enabled)",
		"profiles:\n- pluginConfig: [{name: NodeAffinity, args: {}}]\n":                                                                          "own configuration",
		"extenders:\n- urlPrefix: http://extender:8000/\n":                                                                                       "http://extender:8000/",
		"kind: x\n": "own configuration",
	} {
		testkit.Equal(t, configTitle([]byte(config)), want, "the title of %q", config)
	}
	for _, c := range simulator.Configurations {
		testkit.Equal(t, configTitle(c.YAML()), c.Title, "the title of %s", c.Variant)
	}
}
