package walkthrough

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// table prints what became of each pod.
func (w *walk) table() {
	table := tabwriter.NewWriter(w.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\n  POD\tREGEX\tEXCLUDES\tVERDICT\tNODE\tREASON")
	for _, p := range w.pods {
		verdict, node, reason := outcome(p.seen)
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%s\n", p.name, ptr.Deref(p.regex, "-"), ptr.Deref(p.exclude, "-"), verdict, node, reason)
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
