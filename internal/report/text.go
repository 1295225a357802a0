package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// style is how a format writes the parts of a report.
type style struct {
	escape            func(string) string
	command           func(string) string
	answer            string // around the answer
	paragraph         string // between two lines
	title, end        string // around a section with a title
	left, cell, right string // of a row of a table
	item, line        string // before an item of a list, and before a line of one
	all               string // where all rows are
	width             int    // of a table: cells are folded; 0: they are not
}

// gap is the space between two columns.
const gap = 3

// console is for a tabwriter, and a terminal with so many columns.
func console(width int) style {
	return style{escape: oneLine, command: printable.Whole, paragraph: "\n", title: "%s:\n\n", cell: "\t", line: "  ", all: "-o json", width: width}
}

// markdown is for a comment on a pull request.
var markdown = style{
	escape: Escape, command: fenced, answer: "**", paragraph: "\n\n", title: "<details><summary>%s</summary>\n\n", end: "\n</details>\n",
	left: "| ", cell: " | ", right: " |", item: "- ", line: "  - ", all: "the JSON",
}

// oneLine is a text without line breaks and tabs, which end rows and cells, and without what controls a terminal.
func oneLine(text string) string { return printable.Whole(strings.Join(strings.Fields(text), " ")) }

// marks are what Markdown takes for more than itself within a line: emphasis, code, links, tags,
// entities, tables, and strikethrough.
var marks = regexp.MustCompile("[\\\\`*_\\[\\]<>&|~]")

// starts are what it takes for a heading, a list or a rule at the start of a paragraph.
var starts = regexp.MustCompile(`^(\d*)([-+#]|[.)](?:\s|$))`)

// Escape has Markdown show a text as it is, in a line.
func Escape(text string) string {
	return starts.ReplaceAllString(marks.ReplaceAllString(oneLine(text), `\$0`), `$1\$2`)
}

// backticks are what could end a block of code.
var backticks = regexp.MustCompile("`+")

// fenced is a block of code, in which Markdown shows a command as it is, and which keeps its spaces when it is copied.
func fenced(command string) string {
	fence := "```"
	for _, run := range backticks.FindAllString(command, -1) {
		fence = strings.Repeat("`", max(len(fence), len(run)+1))
	}
	return fence + "sh\n" + printable.Whole(command) + "\n" + fence
}

// write is the report as text.
func (r *Report) write(in style) string {
	var text strings.Builder
	text.WriteString(in.answer + in.escape(r.Answer) + in.answer + "\n")
	for _, s := range r.Parts() {
		text.WriteString("\n")
		if s.Title != "" {
			fmt.Fprintf(&text, in.title, s.Title)
		}
		var lines []string
		for _, line := range s.Text {
			lines = append(lines, in.escape(line))
		}
		text.WriteString(strings.Join(lines, in.paragraph))
		if len(lines) > 0 {
			text.WriteString("\n")
		}
		if s.Run != "" {
			text.WriteString("\n" + in.command(s.Run) + "\n")
		}
		if len(lines) > 0 && len(s.Rows)+len(s.List) > 0 {
			text.WriteString("\n")
		}
		text.WriteString(in.table(s.Rows))
		if s.More > 0 {
			fmt.Fprintf(&text, "\nand %d more; %s has all\n", s.More, in.all)
		}
		for _, item := range s.List {
			text.WriteString(in.item + in.escape(item.Text) + "\n")
			for _, line := range item.Lines {
				text.WriteString(in.line + in.escape(line) + "\n")
			}
		}
		if s.Title != "" {
			text.WriteString(in.end)
		}
	}
	return text.String()
}

// folded has the cells of a table go on in rows below, as far as it is too wide otherwise. The last cell of
// a shorter row has the columns that are left.
func folded(rows [][]string, width int) (all [][]string) {
	widths := make([]int, len(rows[0])) // of columns
	words := make([]int, len(rows[0]))  // of the longest one in each
	for _, row := range rows {
		for i, cell := range row {
			if i == len(row)-1 && len(row) < len(widths) {
				break
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			for _, word := range strings.Fields(cell) {
				words[i] = max(words[i], utf8.RuneCountInString(word))
			}
		}
	}
	narrow(widths, words, width-gap*(len(widths)-1))
	for _, row := range rows {
		left := width
		height := 1
		cells := make([][]string, len(row))
		for i, cell := range row {
			cells[i] = cli.Fold(cell, widths[i])
			if i == len(row)-1 && len(row) < len(widths) {
				cells[i] = cli.Fold(cell, left)
			}
			left -= widths[i] + gap
			height = max(height, len(cells[i]))
		}
		for line := range height {
			shown := make([]string, len(row))
			for i, cell := range cells {
				if line < len(cell) {
					shown[i] = cell[line]
				}
			}
			all = append(all, shown)
		}
	}
	return all
}

// narrow takes from the widest columns until all of them together have a width, or each is as narrow as a word.
func narrow(widths, words []int, width int) {
	for {
		widest := -1
		sum := 0
		for i := range widths {
			sum += widths[i]
			if widths[i] > words[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if sum <= width || widest < 0 {
			return
		}
		widths[widest]--
	}
}

// table is the rows of a table. In Markdown, the last cell of a shorter row is in the last column.
func (in style) table(rows [][]string) string {
	var text strings.Builder
	if in.width > 0 && len(rows) > 0 {
		rows = folded(rows, in.width)
	}
	for i, cells := range rows {
		row := make([]string, 0, len(rows[0]))
		for _, cell := range cells {
			row = append(row, in.escape(cell))
		}
		if in.left != "" {
			row = slices.Insert(row, len(row)-1, make([]string, len(rows[0])-len(row))...)
		}
		text.WriteString(in.left + strings.Join(row, in.cell) + in.right + "\n")
		if in.left != "" && i == 0 {
			text.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return text.String()
}
