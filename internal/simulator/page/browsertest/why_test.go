package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
)

// TestWhyAsAFileCanBeReadOnEveryScreen: causes and commands may have no place to break.
func TestWhyAsAFileCanBeReadOnEveryScreen(t *testing.T) {
	long := strings.Repeat("a_name_without_a_place_to_break_", 8)
	basis := report.Basis{Lacks: []report.Lack{{Kinds: []string{"CSINode"}, Effect: long}, {Kinds: []string{"Service"}, Effect: long}}, Remedy: snapshot.KubectlGet}
	changes := []why.Change{{Change: "change " + long}, {Change: "uncordon " + long, Helps: true, Node: long, Nodes: 1}}
	one := &why.Result{Pod: "shop/" + long, Pending: true, Verdict: "Pod " + long + " is pending", Changes: changes, Basis: &basis}
	all := &why.All{Verdict: long, Groups: []*why.Group{{Verdict: long, Pods: []string{"shop/" + long}, Changes: changes}}, Basis: basis}
	var pages [2]bytes.Buffer
	testkit.Must(t, page.WriteWhy(&pages[0], one))
	testkit.Must(t, report.Write(&pages[1], "html", all, all.Report()))
	p := open(t, "/")
	for i, name := range []string{"one", "all"} {
		file := filepath.Join(t.TempDir(), name+".html")
		testkit.Must(t, os.WriteFile(file, pages[i].Bytes(), 0o600))
		for _, scheme := range []string{"light", "dark"} {
			p.scheme(scheme)
			p.do(chromedp.Navigate("file://" + file))
			p.contrast(scheme)
			p.onEveryScreen(name+", "+scheme, "h1, p, li, pre")
			p.onAPhone(func() {
				p.waitFor("each line is whole", `[...document.querySelectorAll("h1, p, li, pre")].every((text) => text.scrollWidth <= text.clientWidth)`)
			})
		}
	}
}
