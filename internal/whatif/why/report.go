package why

import (
	"fmt"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

// Report is the result for people, without what only a page can show.
func (r *Result) Report() report.Report {
	all := report.Report{Answer: r.Verdict + ".", Sections: []report.Section{r.Basis.Lacking(), {Text: []string{r.Hint}}}}
	a := r.Attempt
	if a != nil {
		if a.Message != "" {
			hint := &all.Sections[len(all.Sections)-1]
			hint.Text = append(hint.Text, "In the copy, the scheduler said: "+a.Message)
		}
	}
	all.Sections = append(all.Sections, listed(r.Changes, r.Unlisted, ""))
	if a != nil {
		all.Sections = append(all.Sections, a.Sections()...)
	}
	all.Sections = append(all.Sections, r.Basis.Remedies()...)
	if r.Basis != nil {
		all.Sections = append(all.Sections, report.Section{Text: []string{r.Basis.String()}})
	}
	return all
}

// listed are changes, under a line that says what they are.
func listed(changes []Change, unlisted Unlisted, of string) report.Section {
	if len(changes) == 0 && unlisted == (Unlisted{}) {
		return report.Section{}
	}
	s := report.Section{Text: []string{"Each of these changes was tried alone" + of + ":"}}
	for _, change := range changes {
		s.List = append(s.List, report.Item{Text: change.String()})
	}
	if more := unlisted.String(); more != "" {
		s.List = append(s.List, report.Item{Text: more})
	}
	return s
}

// Report is the result for people.
func (r *All) Report() report.Report {
	all := report.Report{Answer: r.Verdict + ".", Sections: []report.Section{r.Basis.Lacking()}}
	for _, group := range r.Groups {
		about, of := []string{group.Verdict + "."}, ""
		if len(group.Pods) > 1 {
			about = append(about, report.Few(group.Pods))
			var shown []string
			for _, pattern := range group.Patterns {
				shown = append(shown, printable.Quote(printable.Short(pattern)))
			}
			if len(shown) > 0 {
				about = append(about, "Their patterns: "+report.Few(shown))
			}
			of = fmt.Sprintf(" for %s, and what helps for up to %d others, each alone", group.Pods[0], mostOthers)
		}
		if group.Unlike > 0 {
			differ := "differ"
			if group.Unlike == 1 {
				differ = "differs"
			}
			of += fmt.Sprintf(" (%d of the others %s in requests or constraints)", group.Unlike, differ)
		}
		s := listed(group.Changes, group.Unlisted, of)
		s.Text = append(about, s.Text...)
		all.Sections = append(all.Sections, s)
	}
	var preempt report.Section
	for _, one := range r.Preempt {
		preempt.List = append(preempt.List, report.Item{Text: one.String() + "."})
	}
	all.Sections = append(all.Sections, preempt)
	if len(r.Scheduled) > 0 {
		all.Sections = append(all.Sections, report.Section{Text: []string{
			"Scheduled in the copy: " + report.Few(r.Scheduled) + ". " + notTried(r.Basis.Skipped),
		}})
	}
	all.Sections = append(all.Sections, r.Basis.Remedies()...)
	all.Sections = append(all.Sections, report.Section{Text: []string{r.Basis.String()}})
	return all
}
