package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// marked waits until exactly these lines are marked.
func (p *tab) marked(lines string) {
	p.Helper()
	p.waitFor("the marked lines are "+lines, "[...document.querySelectorAll('.gutter .bad')].map((l) => l.innerText).join(' ') === "+quote(lines))
}

func TestAllMistakesOfAConfigurationAreMarkedAtOnce(t *testing.T) {
	p := open(t, "/")
	before := string(sim.SchedulerConfig())
	p.click("#cog")
	p.paste("#text", head+plugins+"percentageOfNodesToScore: 120\n"+strings.ReplaceAll(extenders, "http://", ""))
	p.click("#editor .submit")
	p.says("#problems", "WasmRegexScheduling: profile default-scheduler enables it, but it is not compiled in")
	p.says("#problems", "not in valid range [0-100]", "must begin with http:// or https://")
	p.marked("8 9 11")
	p.onScreen("#problems h2")
	p.says("#problems", "The scheduler keeps the current configuration")
	testkit.Equal(t, string(sim.SchedulerConfig()), before, "the configuration in use")
	p.do(chromedp.Evaluate("quitting = true", nil), chromedp.Navigate(server.URL()+"/scheduler"))
	p.paste("#text", head+plugins)
	p.click(".submit")
	p.onScreen("#problems h2")
}

// onScreen waits until an element can be seen without scrolling.
func (p *tab) onScreen(selector string) {
	p.Helper()
	p.waitFor(selector+" is on the screen", `(at => {
		const { left, top, width, height } = at.getBoundingClientRect();
		return at.contains(document.elementFromPoint(left + width / 2, top + height / 2));
	})(document.querySelector(`+quote(selector)+`))`)
}

func TestRejectedEditMarksItsPart(t *testing.T) {
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.createPod("waits", "cncf-.*")
	p.panel("#pending-default-waits")
	p.click("#edit")
	p.waitFor("the form is there", "document.querySelector('#editor').open && document.querySelector('#regex')?.value === 'cncf-.*'")
	text := p.value("#text")
	p.paste("#text", strings.Replace(text, "restartPolicy: Always", "restartPolicy: Never", 1))
	p.click("#editor .submit")
	p.says("#problems", "pod updates may not change fields other than")
	p.waitFor("no Go is shown", "!document.querySelector('#problems').innerText.includes('core.PodSpec')")
	p.waitFor("the part with the edit is marked", "document.querySelector('#text').value.split('\\n')[document.querySelector('.gutter .bad').innerText - 1] === 'spec:'")
}

func TestPreemptionNamesTheNodeAndTheVictims(t *testing.T) {
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	create := func(kind, yaml string) {
		p.Helper()
		p.form(kind)
		p.paste("#text", yaml)
		p.submit()
	}
	pod := func(name, more string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\nspec:\n" + more +
			"  containers:\n  - name: web\n    image: web\n    resources: {requests: {cpu: 3}}\n"
	}
	create("node", "apiVersion: v1\nkind: Node\nmetadata:\n  name: small\nstatus:\n  capacity: {cpu: 4, memory: 4Gi, pods: 10}\n  allocatable: {cpu: 4, memory: 4Gi, pods: 10}\n")
	create("priorityclass", "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: first\nvalue: 1000\n")
	create("pod", pod("low", ""))
	p.waitFor("low is on the node", "document.getElementById('on-default-low')")
	create("pod", pod("high", "  priorityClassName: first\n"))
	p.waitFor("high is on the node", "document.getElementById('on-default-high')")
	p.panel("#on-default-high")
	p.waitFor("both attempts are there", "document.querySelectorAll('#panel .attempt').length >= 2")
	p.click("#panel .attempt:last-of-type summary")
	p.says("#panel .attempt:last-of-type", "nominates node small and preempts 1 pod: default/low")
	p.click("#panel .attempt:last-of-type a[href='/pods/default/low']")
	p.says("#panel #verdict", "Preempted on node small", "by default/high")
	p.says("#panel .attempt[open]", "Reserve to Bind on the chosen node", "DefaultBinder", "Preempted later")
	p.click("#panel #verdict a")
	p.says("#panel #panel-title", "high")
}
