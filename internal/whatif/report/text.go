package report

import (
	"fmt"
	"strings"
)

// oneLine is a text without line breaks and tabs, which end rows and cells.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// text is the report for a tabwriter.
func (r *Report) text() string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\n") }
	line(oneLine(r.Answer))
	for _, s := range r.Parts() {
		line("")
		if s.Title != "" {
			line(oneLine(s.Title) + ":\n")
		}
		for _, text := range s.Text {
			line(oneLine(text))
		}
		if len(s.Text) > 0 && len(s.Rows)+len(s.List) > 0 {
			line("")
		}
		for _, cells := range s.Rows {
			row := make([]string, len(cells))
			for i, cell := range cells {
				row[i] = oneLine(cell)
			}
			line(strings.Join(row, "\t"))
		}
		if s.More > 0 {
			line(fmt.Sprintf("and %d more; -o json has all", s.More))
		}
		for _, item := range s.List {
			line(oneLine(item.Text))
			for _, text := range item.Lines {
				line("  " + oneLine(text))
			}
		}
	}
	return b.String()
}
