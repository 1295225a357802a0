package why

import "wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"

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
	var last report.Section
	if r.Others > 0 {
		last.Text = append(last.Text, report.Plural(r.Others, "other pod")+" that the cluster has pending got a node in the copy.")
	}
	if r.Basis != nil {
		last.Text = append(last.Text, r.Basis.String())
	}
	all.Sections = append(all.Sections, last)
	return all
}
