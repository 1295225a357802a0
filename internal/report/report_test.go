package report

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/russross/blackfriday/v2"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// awkward are texts that Markdown takes for something else unless they are escaped: each ASCII character in
// several places, and longer constructs.
func awkward() (texts []string) {
	for c := ' ' + 1; c < 0x7f; c++ {
		s := string(c)
		texts = append(texts, s, s+s+s, "a"+s+"b", s+" a", s+"a"+s, "1"+s+" a", "a "+s+s+"b"+s+s+" c", `\`+s)
	}
	return append(texts, "[a](http://b)", "![a](b)", "<b>a</b>", "&lt;a&gt;", "<!-- a -->", "a | b", "[a]: b", "- [ ] a", "***", "12) a", "~~a~~", "a<br>b",
		"^gpu-[0-9]+$", "http://a.example/b_c_d", "a  b")
}

var tags = regexp.MustCompile(`<[^>]*>`)

// TestMarkdownShowsTextsAsTheyAre reads the Markdown with a parser: each text has to come out as it went in.
func TestMarkdownShowsTextsAsTheyAre(t *testing.T) {
	for _, text := range awkward() {
		for place, section := range map[string]Section{
			"a paragraph": {Text: []string{"first", text}},
			"a head":      {Rows: [][]string{{"first", text}, {"a", "b"}}},
			"a cell":      {Rows: [][]string{{"first", "b"}, {"a", text}}},
			"an item":     {List: []Item{{Text: "first"}, {Text: text}}},
			"a line":      {List: []Item{{Text: "first", Lines: []string{text}}}},
			"a command":   {Text: []string{"first"}, Run: text},
		} {
			var out bytes.Buffer
			testkit.Must(t, Write(&out, "markdown", nil, Report{Answer: "answer", Sections: []Section{section}}))
			page := blackfriday.Run(out.Bytes(), blackfriday.WithExtensions(blackfriday.CommonExtensions&^blackfriday.Autolink&^blackfriday.DefinitionLists), blackfriday.WithRenderer(
				blackfriday.NewHTMLRenderer(blackfriday.HTMLRendererParameters{})))
			var parts []string
			for _, part := range tags.Split(string(page), -1) {
				parts = append(parts, html.UnescapeString(strings.TrimSpace(part)))
			}
			want := text
			if section.Run == "" {
				want = strings.Join(strings.Fields(text), " ")
			}
			if !strings.Contains("\n"+strings.Join(parts, "\n")+"\n", "\n"+want+"\n") {
				t.Errorf("%q in %s: %q is shown as %q", text, place, &out, page)
			}
		}
	}
}

// example has what a report can have.
func example() Report {
	return Report{Answer: "1 pod <moves>", Sections: []Section{
		{Text: []string{"a\nb", "", "c*"}},
		{ID: "all", Title: "Pods and nodes", Rows: [][]string{{"POD", "FROM", "TO"}, {"a|b", "one", "two"}, {"db_0", "none\tat all"}}, More: 3},
		{},
		{List: []Item{{Text: "web: 1 of 2", Lines: []string{"1 pod: no room"}}, {Text: "db"}}},
	}}
}

func TestTablesFitTheTerminal(t *testing.T) {
	rows := [][]string{
		{"POD", "WHY IT IS PENDING", "NODES"},
		{"default/web-0", "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)", "node-1, node-2"},
		{"a", "this takes the columns that are left, which are two: the second one and the third one"},
	}
	const want = "POD             WHY IT IS PENDING                                NODES\n" +
		"default/web-0   0/2 nodes are available: 1 Insufficient cpu, 1   node-1, node-2\n" +
		"                node(s) had untolerated taint(s)                 \n" +
		"a               this takes the columns that are left, which are two: the second\n" +
		"                one and the third one\n"
	var out bytes.Buffer
	aligned := tabwriter.NewWriter(&out, 0, 0, gap, ' ', 0)
	_, err := io.WriteString(aligned, console(80).table(rows))
	err = errors.Join(err, aligned.Flush())
	if err != nil || out.String() != want {
		t.Errorf("%v: it is\n%s\nwant\n%s", err, &out, want)
	}
}

func TestReportsInEveryFormat(t *testing.T) {
	for format, want := range map[string]string{
		"table": "1 pod <moves>\n\na b\nc*\n\nPods and nodes:\n\nPOD    FROM   TO\na|b    one    two\ndb_0   none at all\n\nand 3 more; -o json has all\n\n" +
			"web: 1 of 2\n  1 pod: no room\ndb\n",
		"markdown": "**1 pod \\<moves\\>**\n\na b\n\nc\\*\n\n<details><summary>Pods and nodes</summary>\n\n" +
			"| POD | FROM | TO |\n|---|---|---|\n| a\\|b | one | two |\n| db\\_0 |  | none at all |\n\nand 3 more; the JSON has all\n\n</details>\n\n" +
			"- web: 1 of 2\n  - 1 pod: no room\n- db\n",
		"json": "{\n  \"of\": \"programs\"\n}\n",
	} {
		var out bytes.Buffer
		err := Write(&out, format, map[string]string{"of": "programs"}, example())
		if err != nil || out.String() != want {
			t.Errorf("%v: as %s it is\n%s\nwant\n%s", err, format, &out, want)
		}
	}
	var page bytes.Buffer
	testkit.Must(t, Write(&page, "html", nil, example()))
	testkit.Has(t, page.String(),
		"<h1>1 pod &lt;moves&gt;</h1>", "<h2>Pods and nodes</h2>", `<table id="all"`, `<th scope="row">a|b</th><td>one</td><td>two</td>`,
		"<td colspan=\"2\">none\tat all</td>", "And 3 more", "<li>web: 1 of 2<ul><li>1 pod: no room</li></ul></li>",
	)
}

func TestLongReasonsStandOnceEach(t *testing.T) {
	long := "0/1000 nodes are available: 940 Insufficient cpu, 60 node(s) had untolerated taint(s)"
	other := strings.ReplaceAll(long, "cpu", "memory")
	rows := [][]string{{"POD", "TO", "REASON"}, {"a", "", long}, {"b", "n1", "short"}, {"c", "", "preempted by d; " + long}, {"d", "", "once: " + other}}
	sections := []Section{{Text: []string{"text"}}, {Rows: rows}, {Rows: [][]string{{"WORKLOAD", "REASON"}, {"web", long}}}, {Text: []string{"end"}}}
	for name, tt := range map[string]struct {
		about map[string][]string
		want  string
	}{
		"with pods": {
			map[string][]string{long: {"a", "c"}, other: {"e"}, "short": {"b"}},
			"Cause 1, of 2 pods: " + long + "\n  a, c\nCause 2, of 1 pod: " + other + "\n  e\n",
		},
		"by rows": {nil, "Cause 1: " + long + "\n  a, c, web\n"},
	} {
		var out bytes.Buffer
		testkit.Must(t, Write(&out, "table", nil, Report{Answer: "answer", Sections: Once(slices.Clone(sections), tt.about)}))
		want := "answer\n\ntext\n\nPOD   TO   REASON\na          cause 1\nb     n1   short\nc          preempted by d; cause 1\nd          once: " + other + "\n\n" + tt.want + "\nWORKLOAD   REASON\nweb        cause 1\n\nend\n"
		if out.String() != want {
			t.Errorf("%s: it is\n%s\nwant\n%s", name, &out, want)
		}
	}
	if rows[1][2] != long {
		t.Error("the rows of the caller are changed")
	}
}

func TestReasonsThatDifferInNamesOfClaimsAreOneCause(t *testing.T) {
	reason := func(claim string) string {
		return `0/2 nodes are available: persistentvolumeclaim "` + claim + `" not found.` + strings.Repeat(" long", 5)
	}
	rows, about := [][]string{{"POD", "REASON"}}, map[string][]string{`nodes didn't match regex "a"` + strings.Repeat(" long", 9): {"x"}, "": {"moved"}}
	for i := range 7 {
		pod := fmt.Sprint("db-", i)
		rows = append(rows, []string{pod, reason("data-" + pod)})
		about[reason("data-"+pod)] = []string{pod}
	}
	rows = append(rows, []string{"y", `nodes didn't match regex "b"` + strings.Repeat(" long", 9)})
	var out bytes.Buffer
	testkit.Must(t, Write(&out, "table", nil, Report{Sections: Once([]Section{{Rows: rows}}, about)}))
	for _, want := range []string{
		"\ndb-6   cause 1\n", `y      nodes didn't match regex "b"`, `persistentvolumeclaim "data-db-0", "data-db-1", "data-db-2", "data-db-3", "data-db-4", and 2 more not found`,
		"Cause 1, of 7 pods: ", "\n  db-0, db-1, db-2, db-3, db-4, and 2 more\n", `Cause 2, of 1 pod: nodes didn't match regex "a"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q: %s", want, &out)
		}
	}
	short := [][]string{{"POD", "REASON"}, {"a", `claim "a" not found`}, {"b", `claim "b" not found`}}
	if s := Once([]Section{{Rows: short}}, nil); len(s) != 1 || s[0].Rows[1][1] != `claim "a" not found` {
		t.Errorf("short reasons are no longer in their rows: %v", s)
	}
}

func TestTextDoesNotControlTheTerminal(t *testing.T) {
	hostile := "a\x1b[2J\u009b2J\nb\x00"
	r := Report{Answer: hostile, Sections: []Section{{Text: []string{hostile}, Rows: [][]string{{hostile}, {hostile}}, List: []Item{{hostile, []string{hostile}}}}}}
	for _, format := range []string{"table", "markdown"} {
		var out bytes.Buffer
		testkit.Must(t, Write(&out, format, nil, r))
		if strings.ContainsAny(out.String(), "\x1b\u009b\x00") || strings.Contains(out.String(), "\nb") {
			t.Errorf("%s: %q", format, out.String())
		}
	}
}

// TestTextTakesMemoryThatFollowsFromItsSize: it was appended to as a whole for each row, which took 33 s for 20,000 rows.
func TestTextTakesMemoryThatFollowsFromItsSize(t *testing.T) {
	for _, format := range []string{"table", "markdown"} {
		allocated := func(rows int) uint64 {
			s := Section{Rows: [][]string{{"POD", "NODE"}}}
			for range rows {
				s.Rows = append(s.Rows, []string{"default/web-5d5c9", "node-17"})
				s.List = append(s.List, Item{Text: "default/web-5d5c9", Lines: []string{"node-17"}})
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			testkit.Must(t, Write(io.Discard, format, nil, Report{Answer: "answer", Sections: []Section{s, {Title: "again", Rows: s.Rows}}}))
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		few, many := allocated(2_000), allocated(20_000)
		if many > 20*few {
			t.Errorf("%s: %d bytes are allocated for 2,000 rows, and %d for 20,000", format, few, many)
		}
	}
}
