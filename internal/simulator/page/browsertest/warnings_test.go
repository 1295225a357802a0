package browsertest

import (
	"strings"
	"testing"
)

const annotation = "scheduler.wasmkwokwizardry.io/regex"

func TestFormWarnsOfWhatLintFindsAndCreatesItAllTheSame(t *testing.T) {
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.createNode("kubecon-1")
	p.form("deployment")
	p.says("#preview", "No regex: names do not limit this pod.")
	p.typeIn("#regex", "kubecon-.*")
	p.says("#preview", "Matches 1 of 1 node")
	p.waitFor("it is in the template", `document.querySelector("#text").value.includes("      annotations:\n        `+annotation+`: 'kubecon-.*'")`)
	good := p.value("#text")
	p.typeIn("#regex", "'kubecon-.*'")
	p.says("#preview", "the quotes are part of it, and no node's name has quotes; remove them", "Matches none of 1 node now")
	with := func(annotations string) {
		p.Helper()
		p.paste("#text", strings.Replace(good, "        "+annotation+": 'kubecon-.*'\n", annotations, 1))
	}
	with("        scheduler.wasmkwokwizardry.io/regx: 'kubecon-.*'\n")
	p.says("#preview", "annotation scheduler.wasmkwokwizardry.io/regx: it has no effect; did you mean "+annotation+"?")
	with("        " + annotation + ": |\n          kubecon-.*\n")
	p.says("#preview", "it ends with a line break, which no node's name has; write |- in place of |")
	with("        " + annotation + ": yes\n")
	p.says("#preview", "yes is not a string in YAML; put it in quotes")
	with("        " + annotation + ": '" + strings.Repeat("a", 2100) + "'\n")
	p.says("#preview", "the pattern is too long: at most 2048 bytes, not 2100")
	with("        " + annotation + ": '" + strings.Repeat("a", 1<<20) + "'\n")
	p.says("#preview", "A regex may have 2,048 bytes.")
	p.paste("#text", strings.Replace(strings.Replace(good, "        "+annotation+": 'kubecon-.*'\n", "        a: b\n", 1), "metadata:\n", "metadata:\n  annotations:\n    "+annotation+": kubecon-.*\n", 1))
	p.says("#preview", "annotation "+annotation+": it is read on pods only; move it to spec.template.metadata.annotations")
	p.submit()
	p.says("#notices", "Created deployment")
}

func TestConfigurationWarnsOfAnExtenderThatDoesNotAnswer(t *testing.T) {
	p := open(t, "/")
	p.click("#cog")
	p.paste("#text", head+"extenders: [{urlPrefix: http://127.0.0.1:1/, filterVerb: filter}]\n")
	p.click("#editor .submit")
	p.says("#editor", "An extender does not answer", "connection refused")
	p.says("#summary", "http://127.0.0.1:1/")
}
