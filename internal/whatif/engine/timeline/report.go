package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

// Longest is how many pods waited, but for the ones that still do, and the longest of these waits.
func (t *Timeline) Longest() (pods int, longest string) {
	seconds := 0
	for _, w := range t.Waits {
		if !w.Still {
			pods += w.Pods
			seconds = max(seconds, w.To-w.From)
		}
	}
	return pods, lasting(seconds)
}

// Sections are the time line as a picture and a table, and the waits. A nil time line has none.
func (t *Timeline) Sections() []report.Section {
	if t == nil {
		return nil
	}
	var rows [][]string
	for _, e := range t.Events {
		at, about, what := "+"+lasting(e.Seconds), e.About, e.What
		if e.Nodes > 1 {
			about += fmt.Sprintf(" and %d more", e.Nodes-1)
		}
		if e.Pods > 0 {
			what = report.Plural(e.Pods, "pod") + " " + e.What
		}
		same := len(rows) - 1
		for same >= 0 && e.Pods > 0 && rows[same][0] == at && rows[same][1] != about {
			same--
		}
		if same >= 0 && e.Pods > 0 && rows[same][0] == at {
			rows[same][2] += fmt.Sprintf(", %d %s", e.Pods, e.What)
			continue
		}
		rows = append(rows, []string{at, about, what})
	}
	events := report.Table("Time line", []string{"TIME", "ABOUT", "WHAT"}, rows)
	events.Lanes, events.Ends = t.lanes()
	rows = nil
	for _, w := range t.Waits {
		to := "+" + lasting(w.To)
		if w.Still {
			to = "-"
		}
		rows = append(rows, []string{w.About, fmt.Sprint(w.Pods), "+" + lasting(w.From), to, w.Reason})
	}
	return []report.Section{events, report.Table("Not running in between", []string{"WORKLOAD", "PODS", "SINCE", "UNTIL", "REASON"}, rows)}
}

// lanes are a picture of the time line: a lane for the nodes, and one for each workload.
func (t *Timeline) lanes() (lanes []report.Lane, ends string) {
	end := 0
	for _, e := range t.Events {
		end = max(end, e.Seconds)
	}
	for _, w := range t.Waits {
		end = max(end, w.To)
	}
	if end == 0 {
		return nil, ""
	}
	mark := func(about, kind, text string, from, to int) {
		at := slices.IndexFunc(lanes, func(l report.Lane) bool { return l.Name == about })
		if at < 0 {
			at = len(lanes)
			lanes = append(lanes, report.Lane{Name: about})
		}
		lanes[at].Marks = append(lanes[at].Marks, report.Mark{
			Kind: kind, From: float64(from) / float64(end), To: float64(to) / float64(end), Text: fmt.Sprintf("+%s: %s", lasting(from), text),
		})
	}
	for _, w := range t.Waits {
		mark(w.About, "waits", report.Plural(w.Pods, "pod")+" not running for "+lasting(w.To-w.From), w.From, w.To)
	}
	for _, e := range t.Events {
		switch {
		case e.Nodes > 0:
			mark("nodes", "node", e.About+" "+e.What, e.Seconds, e.Seconds)
		case e.What == "deleted":
			mark(e.About, "went", report.Plural(e.Pods, "pod")+" deleted", e.Seconds, e.Seconds)
		default:
			mark(e.About, "came", report.Plural(e.Pods, "pod")+" "+e.What, e.Seconds, e.Seconds)
		}
	}
	slices.SortFunc(lanes, func(a, b report.Lane) int { return cmp.Compare(b.Name, a.Name) }) // the nodes first
	return lanes[:min(len(lanes), report.ShownRows)], "+" + lasting(end)
}

// lasting is a time of a time line, such as "5m01s".
func lasting(seconds int) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%dm%02ds", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%dh%02dm", seconds/3600, seconds%3600/60)
}
