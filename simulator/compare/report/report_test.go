package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
)

func example() *compare.Result {
	room := compare.Amount{CPU: 4000, Memory: 8 << 30, Pods: 110}
	return &compare.Result{
		A: "before.yaml", B: "<after>.yaml", Pods: compare.Pending, Nodes: 2, Asked: 4,
		Runs: []compare.Tally{{Seed: 1, Same: 1, Elsewhere: 1, OnlyA: 1, Nowhere: 1, Follows: 1, Ties: 2}, {Seed: 2, Same: 3}},
		Differences: []compare.Difference{
			{
				Namespace: "default", Name: "picky", Kind: compare.OnlyA, Cause: compare.Verdict, Plugin: "Regex", Runs: 1,
				Reason: "under B one is refused:\nno <match>",
				A:      compare.Outcome{Node: "one", State: "Scheduled"}, B: compare.Outcome{State: "Unschedulable", Message: "0/2 nodes"},
			},
			{
				Namespace: "default", Name: "web", Kind: compare.Elsewhere, Cause: compare.Score, Runs: 2, Follows: true, Reason: "totals",
				A: compare.Outcome{Node: "one"}, B: compare.Outcome{Node: "two"},
			},
		},
		Nowhere: []compare.Difference{{Namespace: "default", Name: "huge", Kind: compare.Nowhere, Reason: "no room"}},
		Load: compare.Loads{
			Has:   compare.Amount{CPU: 8000, Memory: 16 << 30, Pods: 220},
			Nodes: []compare.NodeLoad{{Node: "one", Has: room, A: compare.Amount{CPU: 1500, Pods: 1}}, {Node: "two", Has: room}},
		},
		TimesA: compare.Times{P50: 1500 * time.Microsecond, P99: 2 * time.Second},
	}
}

func TestTheTableHasWhatDiffersWithItsReasonOnALine(t *testing.T) {
	var out bytes.Buffer
	if err := Table(&out, example()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`4 pods on 2 nodes, those without a node: 1 pod has no node under B any more, and 1 more follow from these\.`,
		`default/picky +only under A \(in 1 of 2 runs\) +one +- +Regex: under B one is refused: no <match>\n`,
		`default/web +elsewhere \(in 2 of 2 runs\) +one +two +totals \(follows from other pods\)\n`,
		`default/huge +nowhere +- +- +no room\n`,
		`all runs +1…3 +0…1 +0…1 +0 +0…1 +0…2 +0\n`,
		`A +.*1.5 ms, 2.0 s\n`,
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
			`: 1 pod that runs has no node under A; of the others: 1 pod has no node under B any more`,
			`\nRUNS, AND HAS NO NODE UNDER A +REASON\ndefault/db \(in 2 of 2 runs\) +VolumeBinding: no <claim>\n(?s:.*)\nPOD +DIFFERENCE`,
			`TIES +UNPLACED .*\nseed 1 .* 2 +1 +0.00 %`,
		},
		"json": {`(?s)"unplaced": \[\s+{\s+"namespace": "default",\s+"name": "db",\s+"kind": "unplaced"`},
		"html": {
			`<h1 class="lost">1 pod that runs has no node under A; of the others:`,
			`(?s)<h2>Ran, and have no node under A</h2>.*<li><b>default/db</b> VolumeBinding: no &lt;claim&gt;</li>.*<h2>Pods</h2>`,
			`<b>1</b> without a node under A, though they ran`,
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
		r.Differences = append(r.Differences, compare.Difference{Name: fmt.Sprint("moved-", i), Kind: compare.Elsewhere, Follows: true})
	}
	r.Differences = append(r.Differences, compare.Difference{Namespace: "default", Name: "lost", Kind: compare.OnlyA, Follows: true})
	var table, page bytes.Buffer
	if err := errors.Join(Table(&table, r), HTML(&page, r)); err != nil {
		t.Fatal(err)
	}
	if text := table.String(); !strings.Contains(text, "default/lost") || strings.Contains(text, "moved-") || !strings.Contains(text, "and 81 that follow from these") {
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
	for _, want := range []string{"&lt;after&gt;.yaml", "no &lt;match&gt;", "1 pod has no node under B any more", "data-follows"} {
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
		"No difference":                                        {Same: 3},
		"No difference but 1 tie":                              {Ties: 1},
		"No difference but 2 ties":                             {Ties: 2, Nowhere: 5},
		"2 pods have another node":                             {Elsewhere: 2},
		"1 pod has another node, and 3 more follow from these": {Elsewhere: 4, Follows: 3},
		"1 pod has a node under B alone":                       {OnlyB: 1},
	} {
		if got := Verdict(&compare.Result{Runs: []compare.Tally{tally}}); got != want {
			t.Errorf("%+v is %q, want %q", tally, got, want)
		}
	}
}
