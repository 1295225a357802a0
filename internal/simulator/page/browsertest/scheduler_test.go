package browsertest

import (
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
)

func TestSchedulerKeepsItsConfigurationIfAnotherIsInvalid(t *testing.T) {
	p := open(t, "/")
	before := string(sim.SchedulerConfig())
	for _, bad := range []struct{ name, config, says string }{
		{"only a comment", "# kind: KubeSchedulerConfiguration\n", "the configuration is empty"},
		{"invalid YAML", "apiVersion: x\n kind: y\n", "mapping values are not allowed"},
		{"an unknown plugin", head + strings.ReplaceAll(plugins, "WasmRegexScheduling", "NoSuchPlugin"), "NoSuchPlugin"},
		{"an unreachable guest", head + plugins + strings.ReplaceAll(guestV1, "static-webserver", "127.0.0.1:1"), "refused"},
	} {
		p.within(bad.name, func() {
			p.click("#cog")
			p.paste("#text", bad.config)
			p.click("#editor .submit")
			p.says("#problems", bad.says)
			p.says("#problems", "The scheduler keeps the current configuration")
			if !strings.HasPrefix(bad.config, "#") {
				p.waitFor("the line is marked", "document.querySelector('.gutter .bad')")
			}
			after := string(sim.SchedulerConfig())
			if after != before {
				p.Fatalf("the configuration in use is now\n%s", after)
			}
			p.discard()
		})
	}
	p.createNode("still")
	p.createPod("scheduled", "")
	p.waitFor("the pod is on the node", "document.getElementById('on-default-scheduled')")
}

func TestConfigurationOfEachVariantIsOneClickAway(t *testing.T) {
	p := open(t, "/")
	for _, c := range simulator.Configurations {
		p.within(c.Variant, func() {
			p.click("#cog")
			p.click("#variant-" + c.Variant)
			p.waitFor("it is in the editor", "document.querySelector('#text').value === "+quote(string(c.YAML())))
			p.submit()
			p.says("#summary", c.Title)
		})
	}
}
