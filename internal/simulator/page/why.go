package page

import (
	"fmt"
	"html/template"
	"io"
	"net/url"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
)

// mostRows is how many nodes a file lists: a browser is slow with more.
const mostRows = 3000

// inFile are the templates for a file, which has no other pages to link to.
var inFile = template.Must(template.Must(templates.Clone()).New("podlink").Parse("{{.}}"))

// WriteWhy writes why a pod is pending as a page that is a file of its own: the view of an
// attempt, with all nodes.
func WriteWhy(w io.Writer, r *why.Result) error {
	var style template.CSS
	for _, name := range []string{"style", "views", "narrow"} {
		css, err := assets.ReadFile("assets/" + name + ".css")
		if err != nil {
			return err
		}
		style += template.CSS(css)
	}
	data := map[string]any{"Why": r, "Style": style}
	if r.Attempt != nil {
		view := attemptView{Attempt: r.Attempt}
		view.fill(url.Values{})
		view.Rows.Items, view.Rows.Last = view.rows(0, mostRows), 1
		data["Attempt"], data["More"] = view, max(0, r.Attempt.Total-mostRows)
	}
	if err := inFile.ExecuteTemplate(w, "why", data); err != nil {
		return fmt.Errorf("view why: %w", err)
	}
	return nil
}
