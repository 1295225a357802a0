// Package report writes what a comparison found: as a table for the console, as
// JSON for programs, as Markdown for a pull request's comment, and as a page for
// people, in a single file that needs no network. It is no API.
package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"path"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
	say "wasmkwokwizardry.io/regex-scheduling/internal/whatif/words"
)

//go:embed shared.tmpl
var shared string

// texts are lines that every format has.
var texts = template.Must(template.New("texts").Funcs(template.FuncMap{"plural": Plural, "words": named, "base": path.Base}).Parse(shared))

func text(name string, of any) (string, error) {
	var out strings.Builder
	err := texts.ExecuteTemplate(&out, name, of)
	return out.String(), err
}

// functions are those of all formats' templates.
var functions = template.FuncMap{
	"scheduled": scheduled, "where": where, "why": why, "brief": Brief, "cores": cores, "gib": gibibytes, "plural": Plural, "runs": runs,
	"words": named, "text": text, "workloads": workloads, "groups": groups, "top": top, "more": more, "md": literal.Replace,
	"join": strings.Join, "upper": strings.ToUpper, "terms": func() string { return compare.Terms }, "tried": tried,
}

// workloads are those with pods whose result differs.
func workloads(r *compare.Result) []*compare.Workload {
	return slices.DeleteFunc(slices.Clone(r.Workloads), func(w *compare.Workload) bool { return len(w.Kinds) == 0 })
}

// groups are rows: which nodes, how many of them are used, and what is requested of each
// resource, today, under A, under B.
func groups(r *compare.Result) (rows [][]string) {
	for _, g := range append([]compare.Group{{Value: "all", Loads: r.Load}}, r.Groups...) {
		name := strings.TrimPrefix(path.Base(g.Label)+" "+cmp.Or(g.Value, "none"), ". ")
		row := []string{name, fmt.Sprintf("%d, %d, %d of %d", g.Before.Used, g.A.Used, g.B.Used, g.A.Used+g.A.Empty)}
		for _, one := range r.Load.Resources() {
			row = append(row, fmt.Sprintf("%s, %s, %s of %s",
				amount(one, g.Before.Requested), amount(one, g.A.Requested), amount(one, g.B.Requested), amount(one, g.Has)))
		}
		rows = append(rows, row)
	}
	return rows
}

// tried is how a result came about, and what it does not have of a real cluster.
func tried(r *compare.Result) string {
	basis := say.Basis{Cluster: r.Cluster, Seed: r.Runs[0].Seed, NotModelled: r.NotModelled}
	for _, run := range r.Runs {
		basis.Runs = append(basis.Runs, say.Run{Seed: run.Seed})
	}
	return basis.String()
}

func amount(resource string, of compare.Amount) string {
	switch resource {
	case compare.CPU:
		return cores(of.CPU)
	case compare.Memory:
		return gibibytes(of.Memory) + " GiB"
	}
	return fmt.Sprint(of.Of(resource))
}

// shown is how many rows of a table a person reads; JSON has all of them.
const shown = 40

// top are the rows that are shown, and more is how many are not.
func top(rows any) any {
	return reflect.ValueOf(rows).Slice(0, min(shown, reflect.ValueOf(rows).Len())).Interface()
}

func more(rows any) int { return max(0, reflect.ValueOf(rows).Len()-shown) }

//go:embed report.md.tmpl
var comment string

var markdown = template.Must(template.New("markdown").Funcs(functions).Parse(comment))

// Markdown writes the result for a comment on a pull request, and several in one table.
func Markdown(w io.Writer, results ...*compare.Result) error {
	if len(results) == 1 {
		return markdown.Execute(w, results[0])
	}
	var lines []string
	for i, row := range oneTable(results) {
		for j := range row {
			row[j] = literal.Replace(row[j])
		}
		lines = append(lines, "| "+strings.Join(row, " | ")+" |")
		if i == 0 {
			lines = append(lines, strings.Repeat("|---", len(row))+"|")
		}
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n\n%s\n", sentences(results, func(one string) string { return "- " + literal.Replace(one) }), strings.Join(lines, "\n"), compare.Terms+" "+literal.Replace(tried(results[0])))
	return err
}

// literal has Markdown show a name as it is.
var literal = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;", "&", "&amp;", "\n", " ")

// Format writes a result, or several with the same A.
type Format func(io.Writer, ...*compare.Result) error

// Formats are all there are, by name. That of html is for a single result.
var Formats = map[string]Format{"table": Table, "json": JSON, "html": HTML, "markdown": Markdown}

// JSON writes a result as it is, and several as a list.
func JSON(w io.Writer, results ...*compare.Result) error {
	if len(results) == 1 {
		return say.JSON(w, results[0])
	}
	return say.JSON(w, results)
}

// Plural counts things: 1 node, 2 nodes.
func Plural(n int, what string) string { return say.Plural(n, what) }

func scheduled(r *compare.Result) string {
	what := Plural(r.Asked, "pod") + " on " + Plural(r.Nodes, "node")
	if r.Pods == side.All {
		what += ", all rescheduled from scratch"
	} else {
		what += ", those that are pending"
	}
	if r.Steps > 0 {
		what += ", then " + Plural(r.Steps, "step")
	}
	return what
}

// Brief is a duration as a person reads it.
func Brief(d time.Duration) string { return say.Brief(d) }

func cores(milli int64) string { return trim(fmt.Sprintf("%.1f", float64(milli)/1000)) }

func gibibytes(bytes int64) string { return trim(fmt.Sprintf("%.1f", float64(bytes)/(1<<30))) }

func trim(number string) string { return strings.TrimSuffix(number, ".0") }

func where(o side.Outcome) string {
	switch {
	case o.Node != "":
		return o.Node
	case o.State == engine.Preempted:
		return "preempted"
	case o.State == engine.Gone:
		return "gone"
	}
	return "-"
}

func why(d compare.Difference) string {
	reason := strings.Join(strings.Fields(d.Reason), " ")
	if d.Plugin != "" {
		reason = d.Plugin + ": " + reason
	}
	if d.Follows && d.Cause != compare.Tie {
		reason += " (knock-on effect)"
	}
	return reason
}
