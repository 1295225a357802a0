package page

import (
	"os"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
)

const (
	top = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
`
	plugins = `  plugins:
    multiPoint:
      enabled:
        - name: WasmRegexScheduling
`
	guest = `  pluginConfig:
    - name: WasmRegexScheduling
      args:
        guestURL: file://../../../testdata/guests/empty_filter.wasm
`
	extender = `extenders:
- urlPrefix: http://extender:8000/
  filterVerb: filter
  weight: 10
`
)

func TestProblemsOfAConfigurationHaveTheirLines(t *testing.T) {
	const args = "profiles[0].pluginConfig[0].args"
	replace := strings.ReplaceAll
	for _, tt := range []struct{ name, text, want string }{
		{
			"two guests that are not there", top + plugins + "        - name: Other\n" + replace(guest, "empty_filter", "nope") + strings.NewReplacer("  pluginConfig:\n", "", "WasmRegexScheduling", "Other", "empty_filter", "neither").Replace(guest),
			"13 " + args + ".guestURL | plugin WasmRegexScheduling: guest file://../../../testdata/guests/nope.wasm: stat ../../../testdata/guests/nope.wasm: no such file or directory\n" +
				"16 profiles[0].pluginConfig[1].args.guestURL | plugin Other: guest file://../../../testdata/guests/neither.wasm: stat ../../../testdata/guests/neither.wasm: no such file or directory",
		},
		{"a severity out of range", top + plugins + guest + "        logSeverity: 7\n", "13 " + args + ".logSeverity | plugin WasmRegexScheduling: args: logSeverity is 7, but goes from 0 (info) to 3 (fatal)"},
		{
			"a misspelt plugin", top + replace(plugins, "Wasm", "Wsm") + guest,
			"8 profiles[0].plugins.multiPoint.enabled[0].name | plugin WsmRegexScheduling: profile default-scheduler enables it, but it is not compiled in, and no pluginConfig of the profile gives it a guestURL; do you mean WasmRegexScheduling?",
		},
		{
			"a mistake of every kind", top + "  plugin: {}\n" + plugins + "        - name: Other\n" + replace(guest, "empty_filter", "nope") +
				"    - name: NodeResourcesFit\n      args: {scoringStrategy: {type: Least}}\n    - name: NodeAffinity\n      args: {addedAffinty: {}}\nparallelism: 0\n",
			"5 profiles[0].plugin | unknown field: do you mean \"plugins\"?\n" +
				"10 profiles[0].plugins.multiPoint.enabled[1].name | plugin Other: profile default-scheduler enables it, but it is not compiled in, and no pluginConfig of the profile gives it a guestURL\n" +
				"14 " + args + ".guestURL | plugin WasmRegexScheduling: guest file://../../../testdata/guests/nope.wasm: stat ../../../testdata/guests/nope.wasm: no such file or directory\n" +
				`16 profiles[0].pluginConfig[1].args.scoringStrategy.type | Unsupported value: "Least": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"` + "\n" +
				"18 profiles[0].pluginConfig[2].args.addedAffinty | unknown field: do you mean \"addedAffinity\"?\n" +
				"19 parallelism | Invalid value: 0: should be an integer value greater than zero",
		},
		{"another kind", replace(top, "KubeSchedulerConfiguration", "KubeSchedulerConfig"), "2 kind | is KubeSchedulerConfig, but must be KubeSchedulerConfiguration"},
		{"an extender without http", top + replace(extender, "http://", ""), "6 extenders[0].urlPrefix | must begin with http:// or https:// and a host, as in http://localhost:8000/"},
		{"two documents", top + "---\n" + extender, "5 | a configuration is one document: remove this line, and what is below it if that is another one"},
		{"a list", "- a\n", "0 | this is not a configuration: one begins with apiVersion: and kind:, and goes on with profiles: or another field"},
		{"no YAML", top + "  plugins: [\n", "5 | yaml: did not find expected node content"},
		{"carriage returns", replace(top+"  plugin: {}\n", "\n", "\r\n"), "5 profiles[0].plugin | unknown field: do you mean \"plugins\"?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config, err := scheduler.Read([]byte(tt.text))
			if err == nil {
				err = scheduler.Run(t.Context(), scheduler.Options{Kubeconfig: os.DevNull, Config: config})
			}
			got := listed(configProblems(tt.text, err))
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
