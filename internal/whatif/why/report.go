package why

import "wasmkwokwizardry.io/regex-scheduling/internal/report"

// Report is the result for people, without what only a page can show.
func (r *Result) Report() report.Report {
	all := report.Report{Answer: r.Verdict, Sections: append(r.Basis.Lacking(), report.Section{Text: []string{r.Hint}})}
	a := r.Attempt
	if a != nil {
		if a.Message != "" {
			hint := &all.Sections[len(all.Sections)-1]
			hint.Text = append(hint.Text, "In the copy, the scheduler said: "+a.Message)
		}
		all.Sections = append(all.Sections, a.Sections()...)
	}
	if r.Basis != nil {
		all.Sections = append(all.Sections, report.Section{Text: []string{r.Basis.String()}})
	}
	return all
}
