package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Table is rows of text under a head. Its first column is to the left, all
// others are to the right.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
	Note  string
}

func (t *Table) add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Text is the table for a terminal.
func (t Table) Text() string {
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", t.Title)
	for i, row := range append([][]string{t.Head, nil}, t.Rows...) {
		if i == 1 {
			row = rules(widths)
		}
		var line strings.Builder
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(&line, "  %-*s", widths[i], cell)
			} else {
				fmt.Fprintf(&line, "  %*s", widths[i], cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if t.Note != "" {
		fmt.Fprintf(&b, "\n  %s\n", strings.ReplaceAll(t.Note, "\n", "\n  "))
	}
	return b.String()
}

func rules(widths []int) (rules []string) {
	for _, w := range widths {
		rules = append(rules, strings.Repeat("─", w))
	}
	return rules
}

// Markdown is the table for a page.
func (t Table) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", t.Title)
	row := func(cells []string) {
		b.WriteString("|")
		for _, cell := range cells {
			b.WriteString(" " + strings.ReplaceAll(cell, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	row(t.Head)
	b.WriteString("|---|" + strings.Repeat("---:|", len(t.Head)-1) + "\n")
	for _, cells := range t.Rows {
		row(cells)
	}
	if t.Note != "" {
		fmt.Fprintf(&b, "\n%s\n", t.Note)
	}
	return b.String()
}

// number shows three digits that count.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v >= 9999.5:
		return thousands(fmt.Sprintf("%.0f", v))
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func thousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
