package walkthrough

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	v1 "k8s.io/api/core/v1"
)

// table prints what became of each pod.
func (w *walk) table() {
	table := tabwriter.NewWriter(w.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\n  POD\tREGEX\tVERDICT\tNODE\tREASON")
	for _, p := range w.pods {
		pattern := "-"
		if p.regex != nil {
			pattern = *p.regex
		}
		verdict, node, reason := outcome(p.seen)
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", p.name, pattern, verdict, node, reason)
	}
	_ = table.Flush()
}

// outcome puts where a pod is, or why it is nowhere, into the table's words.
func outcome(p *v1.Pod) (verdict, node, reason string) {
	if p == nil {
		return "Unknown", "-", "-"
	}
	if p.Spec.NodeName != "" {
		return "Scheduled", p.Spec.NodeName, "-"
	}
	condition := scheduled(p)
	return cmp.Or(condition.Reason, "Pending"), "-", cmp.Or(condition.Message, "-")
}
