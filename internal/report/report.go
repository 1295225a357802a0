// Package report is an answer for people, as a value, and its text, Markdown and HTML. It also has the phrases that
// reports of several kinds share. It knows nothing of schedulers and what-ifs, which write reports.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
)

// Report is an answer, and what supports it. Texts are plain: each format escapes them.
type Report struct {
	Answer   string // a sentence
	Sections []Section
}

// Section is a part of a report. Empty lines are omitted, and so is a section that has nothing.
type Section struct {
	ID    string     // of its table in HTML
	Title string     // words of ours, and no names. In Markdown, a section with a title is folded
	Text  []string   // lines above what follows
	Run   string     // a command below them, to copy into a shell
	Rows  [][]string // a table; the first row is its head. In a shorter row, the last cell has the columns that are left
	List  []Item
	More  int    // how many rows are not shown
	Lanes []Lane // a picture of the rows, in HTML
	Ends  string // the time at the end of the lanes, such as "+5m"
}

// Lane is what happens to something, from left to right.
type Lane struct {
	Name  string
	Marks []Mark
}

// Mark is something that happens, or lasts.
type Mark struct {
	Kind     string  // waits, came, went or node
	From, To float64 // of the time that the lanes have, which is 1
	Text     string
}

// X and Width are its place in a lane that is 100 wide. It is wide enough to be seen.
func (m Mark) X() float64 { return min(100*m.From, 100-m.Width()) }

// Width is as said at X.
func (m Mark) Width() float64 { return max(100*(m.To-m.From), 0.5) }

// Item is a part of a list.
type Item struct {
	Text  string
	Lines []string
}

// ShownRows is how many rows of a table a person reads.
const ShownRows = 40

// Table is a section with at most [ShownRows] of some rows under a head. It is empty if there are none.
func Table(title string, head []string, rows [][]string) Section {
	if len(rows) == 0 {
		return Section{}
	}
	shown := min(len(rows), ShownRows)
	return Section{Title: title, Rows: append([][]string{head}, rows[:shown]...), More: len(rows) - shown}
}

// Parts are the sections without what is empty.
func (r Report) Parts() (parts []Section) {
	for _, s := range r.Sections {
		s.Text = slices.DeleteFunc(slices.Clone(s.Text), func(line string) bool { return line == "" })
		if len(s.Text)+len(s.Rows)+len(s.List)+len(s.Run) > 0 {
			parts = append(parts, s)
		}
	}
	return parts
}

// Formats are the names of all formats.
var Formats = []string{"html", "json", "markdown", "table"}

// Write writes data as JSON, or a report of it in another format.
func Write(w io.Writer, format string, data any, r Report) error {
	var err error
	switch format {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(data)
	case "html":
		err = HTML.Execute(w, r)
	case "markdown":
		_, err = io.WriteString(w, r.write(markdown))
	default:
		aligned := tabwriter.NewWriter(w, 0, 0, gap, ' ', 0)
		_, err = io.WriteString(aligned, r.write(console(cli.Width(w, 0))))
		err = errors.Join(err, aligned.Flush())
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
