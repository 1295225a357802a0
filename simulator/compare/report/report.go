// Package report writes what a comparison found: as a table for the console, as
// JSON for programs, and as a page for people, in a single file that needs no
// network. It is no API.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
)

// Format writes a result.
type Format func(io.Writer, *compare.Result) error

// Formats are all there are, by name.
var Formats = map[string]Format{"table": Table, "json": JSON, "html": HTML}

// JSON writes the result as it is.
func JSON(w io.Writer, r *compare.Result) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// Verdict says in a line what came of it, and first what makes that doubtful.
func Verdict(r *compare.Result) string {
	switch n := len(r.Unplaced); n {
	case 0:
		return outcome(r)
	case 1:
		return "1 pod that runs has no node under A; of the others: " + outcome(r)
	default:
		return fmt.Sprintf("%d pods that run have no node under A; of the others: %s", n, outcome(r))
	}
}

func outcome(r *compare.Result) string {
	first := r.Runs[0]
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{first.OnlyA, "no node under B any more"}, {first.OnlyB, "a node under B alone"}, {first.Elsewhere - first.Follows, "another node"},
	} {
		if part.n == 1 {
			parts = append(parts, "1 pod has "+part.what)
		} else if part.n > 0 {
			parts = append(parts, fmt.Sprint(part.n, " pods have ", part.what))
		}
	}
	switch {
	case len(parts) > 0 && first.Follows > 0:
		return fmt.Sprintf("%s, and %d more follow from these", strings.Join(parts, ", "), first.Follows)
	case first.Follows > 0:
		return Plural(first.Follows, "pod") + " elsewhere, by what other pods did before"
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case first.Ties > 0:
		return "No difference but " + Plural(first.Ties, "tie")
	}
	return "No difference"
}

// Plural counts things: 1 node, 2 nodes.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

func scheduled(r *compare.Result) string {
	what := Plural(r.Asked, "pod") + " on " + Plural(r.Nodes, "node")
	if r.Pods == compare.All {
		what += ", all anew"
	} else {
		what += ", those without a node"
	}
	if r.Steps > 0 {
		what += ", then " + Plural(r.Steps, "step")
	}
	return what
}

// Brief is a duration as a person reads it.
func Brief(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func cores(milli int64) string { return trim(fmt.Sprintf("%.1f", float64(milli)/1000)) }

func gibibytes(bytes int64) string { return trim(fmt.Sprintf("%.1f", float64(bytes)/(1<<30))) }

func trim(number string) string { return strings.TrimSuffix(number, ".0") }

func where(o compare.Outcome) string {
	switch {
	case o.Node != "":
		return o.Node
	case o.State == compare.PushedOut:
		return "pushed out"
	case o.State == compare.Gone:
		return "gone"
	}
	return "-"
}

func why(d compare.Difference) string {
	reason := strings.Join(strings.Fields(d.Reason), " ")
	if d.Plugin != "" {
		reason = d.Plugin + ": " + reason
	}
	if d.Follows && d.Cause != compare.Tie {
		reason += " (follows from other pods)"
	}
	return reason
}
