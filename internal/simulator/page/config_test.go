package page

import (
	"os"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
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
)

func TestProblemsOfAConfigurationHaveTheirLines(t *testing.T) {
	const args = "profiles[0].pluginConfig[0].args"
	replace := strings.ReplaceAll
	for _, tt := range []struct{ name, text, want string }{
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
		{"two documents", top + "---\na: b\n", "5 | a configuration is one document: remove this line, and what is below it if that is another one"},
		{"no YAML", top + "  plugins: [\n", "5 | yaml: did not find expected node content"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config, err := kubescheduler.Read([]byte(tt.text))
			if err == nil {
				err = kubescheduler.Run(t.Context(), kubescheduler.Options{Kubeconfig: os.DevNull, Config: config})
			}
			testkit.Equal(t, listed(configProblems(tt.text, err)), tt.want, "the problems")
		})
	}
}
