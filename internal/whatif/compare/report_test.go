package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

func example() *Result {
	room := amounts("cpu", "4", "memory", "8Gi", "pods", "110")
	return &Result{
		A: "before.yaml", B: "<after>.yaml", NotModelled: []string{"list leases"}, Pods: side.Pending, Nodes: 2, Asked: 4,
		Seed: 1, Counts: Counts{Pods: 6, Same: 1, Moved: 1, OnlyA: 1, Pending: 1, Follows: 1, Ties: 2},
		Differences: []Difference{
			{
				Namespace: "default", Name: "picky", Kind: OnlyA, Cause: Verdict, Plugin: "Regex",
				Reason: "under B one is rejected:\nno <match>",
				A:      side.Outcome{Node: "one", State: "Scheduled"}, B: side.Outcome{State: "Unschedulable", Message: "0/2 nodes"},
			},
			{
				Namespace: "default", Name: "web", Kind: Moved, Cause: Score, Follows: true, Reason: "totals",
				A: side.Outcome{Node: "one"}, B: side.Outcome{Node: "two"},
			},
		},
		Pending: []Difference{{Namespace: "default", Name: "huge", Kind: Pending, Reason: "no room"}},
		Load: Loads{
			A: Load{Used: 1, Empty: 1}, Has: amounts("cpu", "8", "memory", "16Gi", "pods", "220"),
			Nodes: []NodeLoad{{Node: "one", Has: room, A: amounts("cpu", "1500m", "pods", "1")}, {Node: "two", Has: room}},
		},
		Summary: []Line{
			{About: "pods that lose their node", Says: "1: default/picky"},
			{About: "nodes used, empty", Today: "0, 2", A: "1, 1", B: "0, 2"},
			{About: "imbalance, CPU", Today: "0.0 %", A: "18.8 %", B: "0.0 %"},
			{About: "nodes without a price", Says: "1: o|ne"},
		},
		Workloads: []*Workload{
			{
				Namespace: "default", Workload: cluster.Workload{Kind: "Deployment", Name: "w`e|b"}, Replicas: 27, Direct: 4, Follow: 1,
				Kinds: map[Kind]int{Moved: 4, OnlyA: 1},
				Over:  map[string][3]int{"a": {9, 9, 12}, "b": {9, 9, 8}, "c": {9, 9, 7}},
			},
			{Namespace: "default", Replicas: 3},
		},
		Groups: []Group{{Zone: "z|1", Loads: Loads{
			Has: room, A: Load{Used: 1, Requested: amounts("cpu", "1500m", "pods", "1")}, B: Load{Empty: 1},
		}}},
	}
}

// written is results in a format.
func written(t *testing.T, format string, details bool, results ...*Result) string {
	t.Helper()
	var out bytes.Buffer
	testkit.Must(t, Write(&out, format, details, results...))
	return out.String()
}

// lacks fails for each pattern that a text lacks.
func lacks(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("it lacks %s:\n%s", pattern, text)
		}
	}
}

func TestReportHasDetailsOnDemandOnly(t *testing.T) {
	both := []string{
		`^1 pod would no longer have a node, .* by chance alone if the scheduler had the configuration <after>.yaml \(B\) in place of before.yaml \(A\)\. Running pods stay where they are: --pods all compares all pods\.\n\n4 pending pods on 2 nodes\.\n\n`,
		`\n +TODAY +A: before.yaml +B: <after>.yaml\npods that lose their node +1: default/picky\n` +
			`nodes used, empty +0, 2 +1, 1 +0, 2\nimbalance, CPU +0.0 % +18.8 % +0.0 %\n`,
		"\ndefault/Deployment/w`e\\|b +4 of 27 replicas moved, 1 of 27 replicas only under A \\(1 as a knock-on effect\\); zone 9/9/9 → 12/8/7\n",
		`\nNODES +USED +CPU +MEMORY +PODS\nall +0, 1, 0 of 2 +0, 0, 0 of 8 +0 GiB, .*\nzone z\|1 +0, 1, 0 of 1 +0, 1.5, 0 of 4 `,
		`\nPODS +UNPLACED +ONLY UNDER A .* THE SAME\nB +0 +1 +0 +0 +1 +1 +2 +1\n`,
		`\nTried in memory under before.yaml \(A\) and <after>.yaml \(B\), with seed 1. Requested, and not modelled: list leases. Webhooks, admission policies, service accounts and autoscalers are not modelled.\n$`,
	}
	details := []string{
		`default/picky +only under A +one +- +Regex: under B one is rejected: no <match>\n`, `default/web +moved +one +two +totals \(knock-on effect\)\n`,
		`default/huge +pending +- +- +no room\n`, `\none +1.5 +0 +0 GiB +0 GiB +1 +0\n`,
	}
	lacks(t, written(t, "table", false, example()), both...)
	text := written(t, "table", true, example())
	lacks(t, text, append(both, details...)...)
	if strings.Contains(text, "\ntwo ") {
		t.Errorf("a node that is the same is listed:\n%s", text)
	}
	text = written(t, "table", false, example())
	if strings.Contains(text, "default/web ") || strings.Contains(text, "NODE UNDER A") {
		t.Errorf("without details:\n%s", text)
	}
}

func TestReportOfSeveralIsOneTable(t *testing.T) {
	other := example()
	other.B = "other"
	other.Counts = Counts{Same: 4}
	lacks(t, written(t, "table", false, example(), other),
		`^2 configurations compared with before.yaml \(A\)\. Running pods stay .*\.\n\n1 pod .* <after>.yaml \(B1\) .*\nNothing would change for the 4 pending pods if .* other \(B2\) in place of before.yaml \(A\)\.\n`,
		`\n +TODAY +A: before.yaml +B1: <after>.yaml +B2: other\nnodes used, empty +0, 2 +1, 1 +0, 2 +0, 2\n`,
		`\nPODS +UNPLACED .*\nB1 +0 +1 .*\nB2 +0 .* 4\n`)
	lacks(t, written(t, "markdown", true, example(), other), `<summary>B1: Pods that differ</summary>`, `<summary>B2: Pods that differ</summary>`)
	lacks(t, written(t, "html", false, example(), other), `<h1>2 configurations compared with before.yaml \(A\)\. .*</h1>`, `<th>B1: &lt;after&gt;.yaml</th>`)
	var again []Result
	err := json.Unmarshal([]byte(written(t, "json", false, example(), other)), &again)
	if err != nil || len(again) != 2 || again[0].Differences[0].Reason != example().Differences[0].Reason {
		t.Errorf("%v %+v", err, again)
	}
}

func TestUnplacedPodsAreProminentInEveryFormat(t *testing.T) {
	r := example()
	r.Unplaced = []Difference{{Namespace: "default", Name: "db", Kind: Unplaced, Plugin: "VolumeBinding", Reason: "no <claim>"}}
	r.Counts.Unplaced = 1
	for format, wants := range map[string][]string{
		"table": {`\nRunning pods that are pending under A:\n(?s:.*)\nPOD +REASON\ndefault/db +VolumeBinding: no <claim>\n(?s:.*)\nWORKLOAD +DIFFERENCE`},
		"json":  {`(?s)"unplaced": \[\s+{\s+"namespace": "default",\s+"name": "db",\s+"kind": "unplaced"`},
		"markdown": {
			`^\*\*A leaves 1 running pod pending, which makes this unreliable\. 1 pod `,
			`are pending under A</summary>(?s:.*)\n\| POD \| REASON \|\n\|---\|---\|\n\| default/db \| VolumeBinding: no \\<claim\\> \|\n`,
		},
		"html": {
			`<h1 class="lost">A leaves 1 running pod pending, which makes this unreliable\. 1 pod`,
			`(?s)<h2>Running pods that are pending under A</h2>.*<th scope="row">default/db</th><td>VolumeBinding: no &lt;claim&gt;</td>.*<h2>Pods</h2>`,
			`<b>1</b> unplaced`,
		},
	} {
		lacks(t, written(t, format, false, r), wants...)
	}
}

// Knock-on effects are folded where there are many of them, but for pods that lose their node.
func TestPodsThatLoseTheirNodeAreNeverFolded(t *testing.T) {
	r := example()
	for i := range 2 * report.ShownRows {
		r.Differences = append(r.Differences, Difference{Name: fmt.Sprint("moved-", i), Kind: Moved, Follows: true})
	}
	r.Differences = append(r.Differences, Difference{Namespace: "default", Name: "lost", Kind: OnlyA, Follows: true})
	text := written(t, "table", true, r)
	if !strings.Contains(text, "default/lost") || strings.Contains(text, "moved-") || !strings.Contains(text, "and 81 more; -o json has all") {
		t.Errorf("the table is\n%s", text)
	}
	list := listed(t, written(t, "html", false, r))
	last := list.Pods[len(list.Pods)-2] // before the pending one
	if list.Texts[int(last[1].(float64))] != "lost" || last[6] != true || last[7] != false {
		t.Errorf("the list has %v of %q", last, list.Texts)
	}
}

func TestPageIsOneFileThatLoadsNothing(t *testing.T) {
	page := written(t, "html", false, example())
	var timed strings.Builder
	err := Page(&timed, example(), "/compare", time.Date(2026, 2, 1, 9, 30, 0, 0, time.UTC))
	if err != nil || !strings.Contains(timed.String(), "1 February 2026, 09:30") {
		t.Errorf("%v: %s", err, timed.String())
	}
	found := regexp.MustCompile(`<[^>]+ (src|href)=[^>]*>|url\(|@import|fetch\(|ZgotmplZ`).FindString(page)
	if found != "" {
		t.Errorf("it refers to something, or it did not pass html/template: %s", found)
	}
	lacks(t, page, "&lt;after&gt;.yaml", `no \\u003cmatch\\u003e`, "1 pod would no longer have a node", "Tried in memory under before.yaml .A. and &lt;after&gt;.yaml .B., with seed 1. Requested, and not modelled: list leases. ")
}

// listed is what a page's script makes rows of.
func listed(t *testing.T, page string) (list listing) {
	t.Helper()
	_, text, _ := strings.Cut(page, `<script type="application/json" id="list">`)
	text, _, _ = strings.Cut(text, "</script>")
	testkit.Must(t, json.Unmarshal([]byte(text), &list))
	return list
}

func TestPageOfThreeThousandPodsIsSmall(t *testing.T) {
	r := example()
	r.Differences, r.Load.Nodes = nil, nil
	node := func(i int) string { return fmt.Sprintf("ip-10-0-%d-%d.eu-west-1.compute.internal", i/256, i%256) }
	for i := range 1000 {
		r.Load.Nodes = append(r.Load.Nodes, NodeLoad{Node: node(i), Has: r.Load.Has, A: amounts("cpu", fmt.Sprint(i, "m"), "pods", "3"), B: amounts("cpu", fmt.Sprint(2*i, "m"), "pods", "3")})
	}
	for i := range 3000 {
		r.Differences = append(r.Differences, Difference{
			Namespace: "default", Name: fmt.Sprintf("checkout-frontend-7d9f8b6c5d-%05d", i), Kind: Moved, Cause: Score, Plugin: "NodeResourcesBalancedAllocation",
			Reason: fmt.Sprintf("under B it prefers %s by %d", node(i%1000), i), A: side.Outcome{Node: node(i % 999), State: "Scheduled"}, B: side.Outcome{Node: node(i % 1000), State: "Scheduled"},
		})
	}
	page := written(t, "html", false, r)
	elements := strings.Count(page, "<")
	if len(page) > 1<<20 || elements > 2000 || len(listed(t, page).Pods) != 3000 {
		t.Errorf("it has %d bytes, %d tags and %d pods", len(page), elements, len(listed(t, page).Pods))
	}
	t.Logf("%d bytes, %d tags", len(page), elements)
}

func TestVerdicts(t *testing.T) {
	lack := report.Basis{Lacks: []report.Lack{{Kinds: []string{"PriorityClasses"}}}}
	for want, r := range map[string]Result{
		"Nothing would change if all pods were rescheduled from scratch under b (B) in place of a (A)":                                                              {Pods: side.All, Counts: Counts{Same: 3}},
		"Nothing would change for the 1 pending pod if the scheduler had the configuration b (B) in place of a (A)":                                                 {Pods: side.Pending, Asked: 1, Counts: Counts{Same: 3}},
		"1 pod would no longer have a node if the scheduler had the configuration b (B) in place of a (A), as far as the input shows":                               {Pods: side.Pending, Asked: 1, Counts: Counts{OnlyA: 1}, Basis: lack},
		"A leaves 1 running pod pending, which makes this unreliable. Nothing would change if all pods were rescheduled from scratch under b (B) in place of a (A)": {Pods: side.All, Counts: Counts{Unplaced: 1}},
	} {
		r.A, r.B = "a", "b"
		if r.sentence("B") != want {
			t.Errorf("%q, want %q", r.sentence("B"), want)
		}
	}
	for want, counts := range map[string]Counts{
		"Nothing would change": {Same: 3},
		"Nothing would change, 2 pods would have another node by chance alone":               {Ties: 2, Pending: 5},
		"1 pod would have another node, 3 pods would have another node as a knock-on effect": {Moved: 4, Follows: 3},
		"1 pod would no longer have a node, 1 pending pod would get a node":                  {OnlyA: 1, OnlyB: 1},
	} {
		got := (&Result{Counts: counts}).Change()
		if got != want {
			t.Errorf("%+v is %q, want %q", counts, got, want)
		}
	}
}

func TestPageHasTheAnswerWorkloadsAndACurveForEachResource(t *testing.T) {
	r := example()
	r.Load.Has["a.example/gpu"] = resource.MustParse("2")
	r.Load.Nodes[1].Has = amounts("cpu", "4", "memory", "8Gi", "pods", "110", "a.example/gpu", "2")
	r.Load.Nodes[1].B = amounts("a.example/gpu", "1")
	page := written(t, "html", false, r)
	testkit.Has(t, page,
		`<th scope="row">pods that lose their node</th><td colspan="3">1: default/picky</td>`,
		`<th scope="row">nodes used, empty</th><td>0, 2</td><td>1, 1</td><td>0, 2</td>`,
		`<td>4 of 27 replicas moved, 1 of 27 replicas only under A (1 as a knock-on effect); zone 9/9/9 → 12/8/7</td>`,
		`<th scope="row">zone z|1</th><td>0, 1, 0 of 1</td><td>0, 1.5, 0 of 4</td>`,
		`<svg viewBox="0 -100 2 100" preserveAspectRatio="none" role="img" aria-label="cpu requested`,
		`<path class="side0" d="M0 0V0.0H1V0.0H2"/><path class="side1" d="M0 0V-37.5H1V0.0H2"/>`,
		`<svg viewBox="0 -100 1 100" preserveAspectRatio="none" role="img" aria-label="a.example/gpu requested`,
		`<path class="side2" d="M0 0V-50.0H1"/>`,
		`<details id="each"><summary>`,
	)
}

func TestCurvesOfManyNodesAreShort(t *testing.T) {
	l := Loads{Nodes: make([]NodeLoad, 10*steps+1)}
	for i := range l.Nodes {
		l.Nodes[i] = NodeLoad{Has: amounts("cpu", "5"), A: amounts("cpu", fmt.Sprint(i, "m"))}
	}
	path := curves(l)[0].Paths[1]
	n := strings.Count(path, "V")
	if n < steps/2 || n > steps || !strings.HasPrefix(path, "M0 0V-80.0H11V") || !strings.HasSuffix(path, fmt.Sprint("H", len(l.Nodes))) {
		t.Errorf("%d steps: %.80s … %s", n, path, path[len(path)-20:])
	}
}
