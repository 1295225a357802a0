package browsertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestExportIsImportedAfterAReset(t *testing.T) {
	p := open(t, "/")
	p.configure(head + plugins + guestV1)
	p.createNode("kubecon-1")
	p.createPod("kept", "kubecon-.*")
	p.waitFor("the pod is on the node", "document.getElementById('on-default-kept')")

	file := filepath.Join(t.TempDir(), "export.json")
	var exported string
	p.do(chromedp.Evaluate(`fetch(document.querySelector("#export").href).then((r) => r.text())`, &exported, chromedp.EvalAsValue, awaited))
	if !json.Valid([]byte(exported)) {
		t.Fatalf("what is exported is not JSON: %.200s", exported)
	}
	testkit.Must(t, os.WriteFile(file, []byte(exported), 0o644))

	p.click("#more")
	p.click("#reset")
	p.says("#editor", "Reset everything?")
	p.click("#reset-yes")
	p.closed("#editor")
	p.says("main", "An empty cluster")

	broken := filepath.Join(t.TempDir(), "holiday.jpg")
	testkit.Must(t, os.WriteFile(broken, []byte("\xff\xd8"), 0o644))
	p.upload(broken)
	p.click("#editor .submit")
	p.says("#problems", "holiday.jpg is not an exported file")
	p.do(chromedp.SetUploadFiles("#file", []string{file}, chromedp.ByQuery))
	p.submit()
	p.waitFor("the pod is on the node again", "document.getElementById('on-default-kept')")
	p.says("#summary", "regex_v1.wasm")
}

// upload chooses a file to import.
func (p *tab) upload(file string) {
	p.Helper()
	p.click("#new")
	p.click("#import")
	p.do(chromedp.WaitVisible("#file", chromedp.ByQuery), chromedp.SetUploadFiles("#file", []string{file}, chromedp.ByQuery))
}

func TestExportOfKubeSchedulerSimulatorIsImportedAndSkippedFieldsAreListed(t *testing.T) {
	file, err := filepath.Abs("../../../snapshot/testdata/kube-scheduler-simulator.export.yml")
	testkit.Must(t, err)
	p := open(t, "/")
	p.configure(head + plugins + guestV1)
	for _, objectsOnly := range []bool{true, false} {
		p.upload(file)
		if objectsOnly {
			p.click("#objects-only")
		}
		p.click("#editor .submit")
		p.says("#problems", "Imported 1 node and 1 pod. It differs from the file:", "field secrets skipped")
		p.click("#editor [data-close]")
		if objectsOnly {
			p.says("#summary", "regex_v1.wasm")
		}
	}
	p.waitFor("the pod is on its node", "document.getElementById('on-default-web')")
	p.waitFor("the scheduler has the configuration of the file", "!document.querySelector('#summary').textContent.includes('regex_v1.wasm')")
}
