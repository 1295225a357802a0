package report

import (
	_ "embed"
	"html/template"
)

//go:embed report.css
var css string

// Style is the style sheet of reports in HTML.
var Style = template.CSS(css)

//go:embed report.html
var layout string

// HTML is the template of a document that is a report. Its template "section" is for a [Section]
// in another document.
var HTML = template.Must(template.New("report").Funcs(functions).Parse(layout))

var functions = template.FuncMap{"style": func() template.CSS { return Style }, "span": span, "marks": kindsOfMarks}

// kindsOfMarks are in the legend, each with what it means.
func kindsOfMarks() [][2]string {
	return [][2]string{{"node", "a node"}, {"came", "created or scheduled"}, {"went", "deleted"}, {"waits", "not running"}}
}

// span is how many columns the last cell of a shorter row has, or 0.
func span(i int, row, head []string) int {
	if i == len(row)-1 && len(row) < len(head) {
		return len(head) - i
	}
	return 0
}
