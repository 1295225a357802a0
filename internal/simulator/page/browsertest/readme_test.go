package browsertest

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestREADMELeadsFromItsFirstCommandToAnExplanation plays README's first steps: the plugin variant of its first command, and
// clicks on what is in bold after "click".
func TestREADMELeadsFromItsFirstCommandToAnExplanation(t *testing.T) {
	_, steps, _ := strings.Cut(string(testkit.ReadFile(t, "../../../../README.md")), "\n## Try it\n")
	command := regexp.MustCompile(`(?m)^    make (\S+)`).FindStringSubmatch(steps)[1]
	clicks := regexp.MustCompile(`(?i)\bclick \*\*([^*]+)\*\*`).FindAllStringSubmatch(steps, -1)
	if len(clicks) == 0 || len(clicks) > 2 {
		t.Fatalf("README has %d clicks: %q", len(clicks), clicks)
	}
	recipe := exec.CommandContext(t.Context(), "make", "-n", "-o", "bin/simulator", command)
	recipe.Dir = "../../../.."
	runs, err := recipe.CombinedOutput()
	variant := regexp.MustCompile(`bin/simulator --plugin (\S+)`).FindSubmatch(runs)
	if err != nil || variant == nil {
		t.Fatalf("make %s: %v: %s", command, err, runs)
	}
	p := open(t, "/")
	config, err := simulator.SchedulerConfig(string(variant[1]))
	if err == nil {
		err = sim.ApplySchedulerConfig(t.Context(), config)
	}
	testkit.Must(t, err)
	for _, click := range clicks {
		p.waitFor(click[1]+" is on the page", fmt.Sprintf(
			`[...document.querySelectorAll("main button, main a")].some(e => e.innerText === %s && !!(e.dataset.step = %s))`, quote(click[1]), quote(click[1])))
		p.click("[data-step=" + quote(click[1]) + "]")
	}
	p.says("#verdict", `3 node(s) didn't match the pod's node name regex "cncf-.*"`)
	p.says("#panel .attempt[open] .matrix .failed", "WasmRegexScheduling")
	p.waitFor("one plugin rejects each node, and all others were asked", `(rows => rows.length === 3 && rows.every(row =>
		row.querySelectorAll(".is-Failed").length === 1 && !row.querySelector(".is-NotRun")))([...document.querySelectorAll("#panel .attempt[open] .matrix tbody tr")])`)
	p.says("#summary", "1 running")
	p.says(".totals", "1.5 of 12.0")
	p.press("\x1b", false)
	p.panel("#pending-default-invalid")
	p.says("#verdict", "trailing backslash at end of expression")
	p.press("\x1b", false)
	p.click("#more")
	p.click("#reset")
	p.click("#reset-yes")
	p.waitFor("the example is gone", "document.querySelector('#example') !== null")
}
