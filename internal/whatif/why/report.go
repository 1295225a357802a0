package why

import "wasmkwokwizardry.io/regex-scheduling/internal/report"

// Report is the result for people, without what only a page can show.
func (r *Result) Report() report.Report {
	all := report.Report{Answer: r.Verdict, Sections: []report.Section{{Text: []string{r.Hint}}}}
	a := r.Attempt
	if a != nil {
		if a.Message != "" {
			all.Sections[0].Text = append(all.Sections[0].Text, "In the copy, the scheduler said: "+a.Message)
		}
		all.Sections = append(all.Sections, a.Sections()...)
	}
	if r.Basis != nil {
		all.Sections = append(all.Sections, report.Section{Text: []string{r.Basis.String()}})
	}
	return all
}
