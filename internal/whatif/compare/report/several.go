package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
)

// oneTable are the rows for several results with the same A: what each B changes, and then
// what the summaries have of today, of A and of each B.
func oneTable(results []*compare.Result) [][]string {
	first := results[0]
	rows := [][]string{{"", "today", "A: " + first.A}}
	for i, r := range results {
		rows[0] = append(rows[0], fmt.Sprintf("B%d: %s", i+1, r.B))
	}
	for _, count := range []struct {
		about string
		of    func(compare.Tally) int
	}{
		{"pods that lose their node", func(t compare.Tally) int { return t.OnlyA }},
		{"pods that gain a node", func(t compare.Tally) int { return t.OnlyB }},
		{"pods that move", func(t compare.Tally) int { return t.Moved - t.Follows }},
		{"which move as a knock-on effect", func(t compare.Tally) int { return t.Follows }},
		{"ties", func(t compare.Tally) int { return t.Ties }},
	} {
		row := []string{count.about, "", ""}
		for _, r := range results {
			row = append(row, fmt.Sprint(count.of(r.Runs[0])))
		}
		rows = append(rows, row)
	}
	for i, line := range first.Summary {
		if line.Says != "" {
			continue
		}
		row := []string{line.About, line.Today, line.A}
		for _, r := range results {
			row = append(row, r.Summary[i].B)
		}
		rows = append(rows, row)
	}
	return rows
}

// sentences are those of several results, a line each.
func sentences(results []*compare.Result, written func(string) string) (text string) {
	for i, r := range results {
		text += written(r.Sentence(fmt.Sprint("B", i+1))) + "\n"
	}
	return text
}

func writeSeveral(w io.Writer, results []*compare.Result) error {
	fmt.Fprintln(w, sentences(results, func(one string) string { return one }))
	aligned := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, row := range oneTable(results) {
		fmt.Fprintln(aligned, strings.Join(row, "\t"))
	}
	fmt.Fprintln(aligned)
	for i, r := range results {
		fmt.Fprintf(aligned, "B%d\t%s\n", i+1, r.Verdict())
	}
	if err := aligned.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n\n--details shows which pods and nodes differ under each B, and why.\n\n%s\n", compare.Terms, tried(results[0]))
	return err
}
