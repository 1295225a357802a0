package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The snippets of the documentation for the configuration.
const (
	head = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
`
	plugins = `  plugins:
    multiPoint:
      enabled:
        - name: WasmRegexScheduling
`
	extenders = `extenders:
- urlPrefix: http://extender:8000/
  filterVerb: filter
  preemptVerb: preempt
  weight: 10
`
	guestV1 = `  pluginConfig:
    - name: WasmRegexScheduling
      args:
        guestURL: http://static-webserver/regex_v1.wasm
`
	guestV2 = `  pluginConfig:
    - name: WasmRegexScheduling
      args:
        guestURL: http://static-webserver/regex_v2.wasm
`
)

// The other plugin variants are tried without a browser: simulator/walkthrough.
func TestWalkthroughByClicksAndTyping(t *testing.T) {
	p := open(t, "/")
	p.configure(head + plugins + guestV2)
	p.walk()
}

// configure is the step "click the cog icon in the upper-left corner".
func (p *tab) configure(config string) {
	p.Helper()
	p.click("#cog")
	p.paste("#text", config)
	p.submit()
	p.says("#notices", "The scheduler runs with the new configuration")
}

// walk is the other steps, and their effects.
func (p *tab) walk() {
	p.Helper()
	p.createNode("")
	p.createNode("kubecon-1")
	p.createNode("kubecon-2")
	p.says("#nodes-title", "3")

	p.createPod("matches", "kubecon-.*")
	p.says("#notices", "Created pod matches")
	p.waitFor("the pod is on a node that its regex matches",
		"document.getElementById('on-default-matches')?.closest('.card').querySelector('.name').innerText.startsWith('kubecon-')")

	p.createPod("unmatched", "cncf-.*")
	p.panel("#pending-default-unmatched")
	p.says("#verdict", `3 node(s) didn't match the pod's node name regex "cncf-.*"`, "matches 0 of 3 nodes")
	p.says("#panel .attempt[open]", "WasmRegexScheduling")
	p.do(chromedp.KeyEvent("\x1b")) // Escape
	p.closed("#panel")

	p.createPod("broken", `kubecon-.*\`)
	p.panel("#pending-default-broken")
	p.says("#verdict", "Invalid regex", "trailing backslash at end of expression")
}
