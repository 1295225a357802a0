// Package resultannotations writes the results of scheduling attempts to annotations of
// scheduled pods, as kube-scheduler-simulator does, for programs that read those.
//
// A pending pod gets none: the scheduler would take the change for a reason to try the
// pod again.
package resultannotations

import (
	"cmp"
	"encoding/json"
	"strconv"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
)

// prefix stands before all names of annotations.
const prefix = "kube-scheduler-simulator.sigs.k8s.io/"

// names are the annotations of one attempt, the shorter ones first. What they hold
// is JSON, but for selected-node.
var names = []string{
	"selected-node", "prefilter-result-status", "prescore-result", "reserve-result", "permit-result", "permit-result-timeout",
	"prebind-result", "bind-result", "prefilter-result", "postfilter-result", "finalscore-result", "score-result", "filter-result",
}

// history holds those of all attempts, as a list, the oldest first.
const history = "result-history"

// byPlugin are the results of plugins; byNode are these by the names of nodes.
type (
	byPlugin map[string]string
	byNode   map[string]byPlugin
)

// resultsOf are the annotations of an attempt, with the prefix.
func resultsOf(a *recorder.Attempt) map[string]string {
	timeouts := byPlugin{} // how long a pod may wait for the plugins
	for _, v := range a.Permit {
		if v.Verdict != recorder.NotRun {
			timeouts[v.Plugin] = v.Timeout.String()
		}
	}
	score, final := scores(a)
	results := map[string]string{prefix + "selected-node": a.Node}
	for name, value := range map[string]any{
		"prefilter-result": limits(a), "prefilter-result-status": verdicts(a.PreFilter, true),
		"filter-result": filters(a), "postfilter-result": postFilter(a),
		"prescore-result": verdicts(a.PreScore, true), "score-result": score, "finalscore-result": final,
		"reserve-result": verdicts(a.Reserve, false), "permit-result": verdicts(a.Permit, true), "permit-result-timeout": timeouts,
		"prebind-result": verdicts(a.PreBind, false), "bind-result": verdicts(a.Bind, true),
	} {
		raw, _ := json.Marshal(value) // maps of strings
		results[prefix+name] = string(raw)
	}
	return results
}

// verdicts are what the plugins said that were called: success, or their message, which
// is empty where the plugin is not applicable to the pod.
func verdicts(all []recorder.PluginVerdict, skipped bool) byPlugin {
	results := byPlugin{}
	for _, v := range all {
		switch {
		case v.Verdict == recorder.NotRun, v.Verdict == recorder.Skipped && !skipped:
		case v.Verdict == recorder.Passed:
			results[v.Plugin] = "success"
		case v.Verdict == recorder.Waits:
			results[v.Plugin] = "wait"
		default:
			results[v.Plugin] = v.Reason
		}
	}
	return results
}

// limits are the nodes that a PreFilter named. Where more than one did, it is known which nodes all of them named.
func limits(a *recorder.Attempt) map[string][]string {
	results := map[string][]string{}
	for _, v := range a.PreFilter {
		if !v.LimitsNodes {
			continue
		}
		results[v.Plugin] = []string{}
		for _, g := range a.Groups {
			if g.Verdict != recorder.Excluded {
				results[v.Plugin] = append(results[v.Plugin], g.Nodes()...)
			}
		}
	}
	return results
}

// filters are the verdicts of the Filter plugins on the nodes that they were asked
// about.
func filters(a *recorder.Attempt) byNode {
	results := byNode{}
	for _, g := range a.Groups {
		plugins := byPlugin{}
		for i, column := range a.Columns {
			switch verdict := a.Cell(g, i); {
			case column.Extender:
			case verdict == recorder.Passed:
				plugins[column.Name] = "passed"
			case verdict == recorder.Rejected || verdict == recorder.Errored:
				plugins[column.Name] = g.Reason
			}
		}
		if len(plugins) == 0 {
			continue
		}
		for _, node := range g.Nodes() {
			results[node] = plugins
		}
	}
	return results
}

// postFilter has the nodes that were filtered, if PostFilter was asked: one of them
// may be nominated.
func postFilter(a *recorder.Attempt) byNode {
	results := byNode{}
	if a.PostFilter == nil {
		return results
	}
	for _, g := range a.Groups {
		if g.Verdict == recorder.Rejected {
			for _, node := range g.Nodes() {
				results[node] = byPlugin{}
			}
		}
	}
	p := a.Preemption
	if p != nil {
		// DefaultPreemption is the one of kube-scheduler's own that nominates.
		results[p.Node] = byPlugin{cmp.Or(a.PostFilter.Plugin, "DefaultPreemption"): "preemption victim"}
	}
	return results
}

// scores are the scores as given, and as they counted.
func scores(a *recorder.Attempt) (given, final byNode) {
	given, final = byNode{}, byNode{}
	for _, row := range a.Scores() {
		given[row.Node], final[row.Node] = byPlugin{}, byPlugin{}
		for i, column := range a.ScoreColumns {
			if !column.Extender {
				given[row.Node][column.Name] = strconv.FormatInt(row.Cells[i].Raw, 10)
				final[row.Node][column.Name] = strconv.FormatInt(row.Cells[i].Weighted, 10)
			}
		}
	}
	return given, final
}
