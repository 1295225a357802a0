package report

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

// marks are what Markdown takes for more than itself within a line: emphasis, code, links, tags,
// entities, tables, and strikethrough.
var marks = regexp.MustCompile("[\\\\`*_\\[\\]<>&|~]")

// starts are what it takes for a heading, a list or a rule at the start of a paragraph.
var starts = regexp.MustCompile(`^(\d*)([-+#.):])`)

// Escape has Markdown show a text as it is, in a line.
func Escape(text string) string {
	return starts.ReplaceAllString(marks.ReplaceAllString(oneLine(text), `\$0`), `$1\$2`)
}

// markdown is the report for a comment on a pull request.
func (r *Report) markdown() string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\n") }
	line("**" + Escape(r.Answer) + "**")
	for _, s := range r.Parts() {
		line("")
		if s.Title != "" { // it is within tags
			line("<details><summary>" + html.EscapeString(oneLine(s.Title)) + "</summary>\n")
		}
		for i, text := range s.Text {
			if i > 0 {
				line("")
			}
			line(Escape(text))
		}
		if len(s.Text) > 0 && len(s.Rows)+len(s.List) > 0 {
			line("")
		}
		for i, cells := range s.Rows {
			line(markdownRow(cells, len(s.Rows[0])))
			if i == 0 {
				line(strings.Repeat("|---", len(cells)) + "|")
			}
		}
		if s.More > 0 {
			line(fmt.Sprintf("\nand %d more; the JSON has all", s.More))
		}
		for _, item := range s.List {
			line("- " + Escape(item.Text))
			for _, text := range item.Lines {
				line("  - " + Escape(text))
			}
		}
		if s.Title != "" {
			line("\n</details>")
		}
	}
	return b.String()
}

// markdownRow is a row of a table. The last cell of a shorter row is in the last column.
func markdownRow(cells []string, columns int) string {
	row := make([]string, columns)
	for i, cell := range cells {
		if i == len(cells)-1 {
			i = columns - 1
		}
		row[i] = Escape(cell)
	}
	return "| " + strings.Join(row, " | ") + " |"
}
