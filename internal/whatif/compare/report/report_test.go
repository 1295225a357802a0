package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

func example() *compare.Result {
	room := compare.Amount{CPU: 4000, Memory: 8 << 30, Pods: 110}
	return &compare.Result{
		A: "before.yaml", B: "<after>.yaml", NotModelled: []string{"list leases"}, Pods: side.Pending, Nodes: 2, Asked: 4,
		Runs: []compare.Tally{{Seed: 1, Same: 1, Moved: 1, OnlyA: 1, Pending: 1, Follows: 1, Ties: 2}, {Seed: 2, Same: 3}},
		Differences: []compare.Difference{
			{
				Namespace: "default", Name: "picky", Kind: compare.OnlyA, Cause: compare.Verdict, Plugin: "Regex", Runs: 1,
				Reason: "under B one is rejected:\nno <match>",
				A:      side.Outcome{Node: "one", State: "Scheduled"}, B: side.Outcome{State: "Unschedulable", Message: "0/2 nodes"},
			},
			{
				Namespace: "default", Name: "web", Kind: compare.Moved, Cause: compare.Score, Runs: 2, Follows: true, Reason: "totals",
				A: side.Outcome{Node: "one"}, B: side.Outcome{Node: "two"},
			},
		},
		Pending: []compare.Difference{{Namespace: "default", Name: "huge", Kind: compare.Pending, Reason: "no room"}},
		Load: compare.Loads{
			A: compare.Load{Used: 1, Empty: 1}, Has: compare.Amount{CPU: 8000, Memory: 16 << 30, Pods: 220},
			Nodes: []compare.NodeLoad{{Node: "one", Has: room, A: compare.Amount{CPU: 1500, Pods: 1}}, {Node: "two", Has: room}},
		},
		Summary: []compare.Line{
			{About: "verdict", Says: "1 pod loses its node under B, with 1 knock-on effect"},
			{About: "pods that lose their node", Says: "1: default/picky"},
			{About: "nodes used, empty", Today: "0, 2", A: "1, 1", B: "0, 2"},
			{About: "imbalance, CPU", Today: "0.0 %", A: "18.8 %", B: "0.0 %"},
			{About: "nodes without a price", Says: "1: o|ne"},
		},
		Workloads: []*compare.Workload{
			{
				Namespace: "default", Workload: cluster.Workload{Kind: "Deployment", Name: "w`e|b"}, Replicas: 27, Direct: 4, Follow: 1,
				Kinds: map[compare.Kind]int{compare.Moved: 4, compare.OnlyA: 1},
				Over: map[string]map[string][3]int{
					"topology.kubernetes.io/zone": {"a": {9, 9, 12}, "b": {9, 9, 8}, "c": {9, 9, 7}}, "pool": {"x": {1, 27, 27}},
				},
			},
			{Namespace: "default", Replicas: 3},
		},
		Groups: []compare.Group{{Label: "topology.kubernetes.io/zone", Value: "z|1", Loads: compare.Loads{
			Has: room, A: compare.Load{Used: 1, Requested: compare.Amount{CPU: 1500, Pods: 1}}, B: compare.Load{Empty: 1},
		}}},
		TimesA: compare.Times{P50: 1500 * time.Microsecond, P99: 2 * time.Second},
	}
}

func TestTheTableHasWhatDiffersWithItsReasonOnALine(t *testing.T) {
	var out bytes.Buffer
	if err := Details(&out, example()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?s)^If the scheduler had the configuration <after>.yaml \(B\) in place of before.yaml \(A\), 1 pod would lose its node, .*\.\n\nA +before.yaml\nB +<after>.yaml\n\n4 pods on 2 nodes, those that are pending:\n\nverdict +1 pod loses its node under B, with 1 knock-on`,
		`\npods that lose their node +1: default/picky\n +TODAY +A +B\nnodes used, empty +0, 2 +1, 1 +0, 2\nimbalance, CPU +0.0 % +18.8 % +0.0 %\n`,
		"\ndefault/Deployment/w`e\\|b +4 of 27 replicas moved, 1 of 27 replicas only under A \\(1 as a knock-on effect\\); zone 9/9/9 → 12/8/7\n",
		`\nNODES: TODAY, A, B +USED +CPU +MEMORY +PODS\nall +0, 1, 0 of 2 +0, 0, 0 of 8 +0 GiB, .*\nzone z\|1 +0, 1, 0 of 1 +0, 1.5, 0 of 4 `,
		`default/picky +only under A \(in 1 of 2 runs\) +one +- +Regex: under B one is rejected: no <match>\n`,
		`default/web +moved \(in 2 of 2 runs\) +one +two +totals \(knock-on effect\)\n`,
		`default/huge +pending +- +- +no room\n`,
		`all runs +1…3 +0…1 +0…1 +0 +0…1 +0…2 +0\n`,
		`A +1.5 ms +2.0 s\n`,
		`\none +1.5 +0 +0 GiB +0 GiB +1 +0\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("it lacks %s:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\ntwo ") {
		t.Errorf("a node that is the same is listed:\n%s", out.String())
	}
}

// stranded is the example with a pod that ran, and has no node under A.
func stranded() *compare.Result {
	r := example()
	r.Unplaced = []compare.Difference{{Namespace: "default", Name: "db", Kind: compare.Unplaced, Plugin: "VolumeBinding", Reason: "no <claim>", Runs: 2}}
	for i := range r.Runs {
		r.Runs[i].Unplaced = 1
	}
	return r
}

func TestAPodWithoutANodeUnderAIsLoudInEveryFormat(t *testing.T) {
	for format, wants := range map[string][]string{
		"table": {
			`\nRUNNING PODS THAT ARE PENDING UNDER A +REASON\ndefault/db \(in 2 of 2 runs\) +VolumeBinding: no <claim>\n(?s:.*)\nWORKLOAD +DIFFERENCE`,
			`TIES +UNPLACED .*\nseed 1 .* 2 +1 +0.00 %`,
		},
		"json": {`(?s)"unplaced": \[\s+{\s+"namespace": "default",\s+"name": "db",\s+"kind": "unplaced"`},
		"markdown": {
			`^\*\*1 running pod without a node under A makes this unreliable\. If `,
			`are pending under A</summary>\n\n\| pod \| reason \|\n\|---\|---\|\n\| default/db \| VolumeBinding: no &lt;claim> \|\n`,
		},
		"html": {
			`<h1 class="lost">1 running pod is pending under A; of the others:`,
			`(?s)<h2>Running pods that are pending under A</h2>.*<li><b>default/db</b> VolumeBinding: no &lt;claim&gt;</li>.*<h2>Pods</h2>`,
			`<b>1</b> running, and pending under A`,
		},
	} {
		var out bytes.Buffer
		if err := Formats[format](&out, stranded()); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !regexp.MustCompile(want).Match(out.Bytes()) {
				t.Errorf("the %s lacks %s:\n%s", format, want, &out)
			}
		}
	}
}

// What follows is folded where there is much of it, but for pods that lose their node.
func TestAPodThatLosesItsNodeIsNeverFolded(t *testing.T) {
	r := example()
	for i := range 2 * shown {
		r.Differences = append(r.Differences, compare.Difference{Name: fmt.Sprint("moved-", i), Kind: compare.Moved, Follows: true})
	}
	r.Differences = append(r.Differences, compare.Difference{Namespace: "default", Name: "lost", Kind: compare.OnlyA, Follows: true})
	var table, page bytes.Buffer
	if err := errors.Join(Details(&table, r), HTML(&page, r)); err != nil {
		t.Fatal(err)
	}
	if text := table.String(); !strings.Contains(text, "default/lost") || strings.Contains(text, "moved-") || !strings.Contains(text, "and 81 knock-on effects") {
		t.Errorf("the table is\n%s", text)
	}
	if !regexp.MustCompile(`<tr tabindex="0" aria-expanded="false"><th scope="row"><small>default/</small>lost<`).Match(page.Bytes()) {
		t.Error("the page hides it")
	}
}

func TestThePageIsOneFileThatAsksNobodyForAnything(t *testing.T) {
	var out bytes.Buffer
	if err := HTML(&out, example()); err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`<[^>]+ (src|href)=[^>]*>`).Find(out.Bytes()); found != nil {
		t.Errorf("it refers to something: %s", found)
	}
	if regexp.MustCompile(`url\(|@import|fetch\(`).Match(out.Bytes()) {
		t.Error("it loads something")
	}
	for _, want := range []string{"&lt;after&gt;.yaml", "no &lt;match&gt;", "1 pod loses its node under B", "data-follows"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if strings.Contains(out.String(), "ZgotmplZ") {
		t.Error("something did not pass html/template")
	}
}

func TestJSONIsReadAgain(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, example()); err != nil {
		t.Fatal(err)
	}
	var again compare.Result
	if err := json.Unmarshal(out.Bytes(), &again); err != nil || again.Differences[0].Reason != example().Differences[0].Reason || again.Lost() != 1 {
		t.Errorf("%v %+v", err, again)
	}
}

func TestVerdicts(t *testing.T) {
	for want, tally := range map[string]compare.Tally{
		"No difference":                                {Same: 3},
		"No difference but 1 tie":                      {Ties: 1},
		"No difference but 2 ties":                     {Ties: 2, Pending: 5},
		"2 pods move under B":                          {Moved: 2},
		"1 pod moves under B, with 3 knock-on effects": {Moved: 4, Follows: 3},
		"1 pod gains a node under B":                   {OnlyB: 1},
	} {
		if got := (&compare.Result{Runs: []compare.Tally{tally}}).Verdict(); got != want {
			t.Errorf("%+v is %q, want %q", tally, got, want)
		}
	}
}

func TestTheTableHasPodsOnDemandOnly(t *testing.T) {
	var out bytes.Buffer
	if err := Table(&out, example()); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "default/web ") || strings.Contains(text, "NODE UNDER A") || !strings.Contains(text, "--details shows") {
		t.Errorf("the table is\n%s", text)
	}
}

const wantMarkdown = `**If the scheduler had the configuration &lt;after>.yaml (B) in place of before.yaml (A), 1 pod would lose its node, 1 pod would have another node and 2 pods would move by chance alone.** 4 pods on 2 nodes, those that are pending.

| | today | A: before.yaml | B: &lt;after>.yaml |
|---|---|---|---|
| verdict |  |  | 1 pod loses its node under B, with 1 knock-on effect |
| pods that lose their node |  |  | 1: default/picky |
| nodes used, empty | 0, 2 | 1, 1 | 0, 2 |
| imbalance, CPU | 0.0 % | 18.8 % | 0.0 % |
| nodes without a price |  |  | 1: o\|ne |

TERMS

<details><summary>1 workload with pods whose result differs</summary>

| workload | difference |
|---|---|
| default/Deployment/w'e\|b | 4 of 27 replicas moved, 1 of 27 replicas only under A (1 as a knock-on effect); zone 9/9/9 → 12/8/7 |

</details>

<details><summary>Nodes: today, under A, under B</summary>

| nodes | used | CPU | memory | pods |
|---|---|---|---|---|
| all | 0, 1, 0 of 2 | 0, 0, 0 of 8 | 0 GiB, 0 GiB, 0 GiB of 16 GiB | 0, 0, 0 of 220 |
| zone z\|1 | 0, 1, 0 of 1 | 0, 1.5, 0 of 4 | 0 GiB, 0 GiB, 0 GiB of 8 GiB | 0, 1, 0 of 110 |

</details>
`

func TestMarkdownIsACommentWhoseNamesAreText(t *testing.T) {
	var out bytes.Buffer
	if err := Markdown(&out, example()); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("TERMS", compare.Terms+" "+wasTried, "w'e", "w\\`e").Replace(wantMarkdown)
	if out.String() != want {
		t.Errorf("it is\n%s\nwant\n%s", &out, want)
	}
}

func TestThePageHasTheAnswerWorkloadsAndACurveForEachResource(t *testing.T) {
	r := example()
	r.Load.Has.Extended = map[string]int64{"a.example/gpu": 2}
	r.Load.Nodes[1].Has.Extended, r.Load.Nodes[1].B.Extended = r.Load.Has.Extended, map[string]int64{"a.example/gpu": 1}
	var out bytes.Buffer
	if err := HTML(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<th scope="row">pods that lose their node</th><td colspan="3">1: default/picky</td>`,
		`<th scope="row">nodes used, empty</th><td>0, 2</td><td>1, 1</td><td>0, 2</td>`,
		`<td>4 of 27 replicas moved, 1 of 27 replicas only under A (1 as a knock-on effect); zone 9/9/9 → 12/8/7</td>`,
		`<th scope="row">zone z|1</th><td>0, 1, 0 of 1</td><td>0, 1.5, 0 of 4</td>`,
		`<svg viewBox="0 -100 2 100" preserveAspectRatio="none" role="img" aria-label="CPU requested`,
		`<path class="side0" d="M0 0V0.0H1V0.0H2"/><path class="side1" d="M0 0V-37.5H1V0.0H2"/>`,
		`<svg viewBox="0 -100 1 100" preserveAspectRatio="none" role="img" aria-label="a.example/gpu requested`,
		`<path class="side2" d="M0 0V-50.0H1"/>`,
		`<details id="each"><summary>`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %s", want)
		}
	}
}

func TestACurveOfManyNodesIsShort(t *testing.T) {
	l := compare.Loads{Nodes: make([]compare.NodeLoad, 10*steps+1)}
	for i := range l.Nodes {
		l.Nodes[i] = compare.NodeLoad{Has: compare.Amount{CPU: 5000}, A: compare.Amount{CPU: int64(i)}}
	}
	path := curves(l)[0].Paths[1]
	if n := strings.Count(path, "V"); n < steps/2 || n > steps || !strings.HasPrefix(path, "M0 0V-80.0H11V") || !strings.HasSuffix(path, fmt.Sprint("H", len(l.Nodes))) {
		t.Errorf("%d steps: %.80s … %s", n, path, path[len(path)-20:])
	}
}

const wasTried = "Tried in memory, 2 times, with seeds 1 to 2. Requested, and not modelled: list leases. Webhooks, quotas and autoscalers are not modelled."

func TestEveryReportSaysHowItCameAboutAndWhatIsNotModelled(t *testing.T) {
	for name, format := range Formats {
		var out bytes.Buffer
		if err := format(&out, example()); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"json": `"notModelled": [`}[name]; !strings.Contains(out.String(), cmp.Or(want, wasTried)) {
			t.Errorf("%s:\n%s", name, &out)
		}
	}
}

func TestThePageHasTheTimeOfTheComparison(t *testing.T) {
	var out strings.Builder
	if err := Page(&out, example(), "/compare", time.Date(2026, 2, 1, 9, 30, 0, 0, time.UTC)); err != nil || !strings.Contains(out.String(), "1 February 2026, 09:30") {
		t.Errorf("%v: %s", err, out.String())
	}
}
