package words

import (
	"cmp"
	"regexp"
	"strings"
)

// ShownRows is how many rows of a table a person reads.
const ShownRows = 40

// Tabbed is a table for a tabwriter. The first row is its head.
func Tabbed(rows [][]string) (text string) {
	for _, row := range rows {
		text += strings.Join(row, "\t") + "\n"
	}
	return text
}

// Markdown is a table for a comment on a pull request. The first row is its head.
func Markdown(rows [][]string) (text string) {
	for i, row := range rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, strings.ReplaceAll(cell, "|", `\|`))
		}
		text += "| " + strings.Join(cells, " | ") + " |\n"
		if i == 0 {
			text += strings.Repeat("|---", len(row)) + "|\n"
		}
	}
	return text
}

var lacking = regexp.MustCompile(`Insufficient ([^\s,]*[^\s,.])|Too many pods`)

// Lacking are the resources of which a message of the scheduler's says that too little is left.
func Lacking(message string) (resources []string) {
	for _, found := range lacking.FindAllStringSubmatch(message, -1) {
		resources = append(resources, cmp.Or(found[1], "pods"))
	}
	return resources
}
