// Package report tells what a run of the benchmark came to: as tables for the
// terminal and in Markdown, as verdicts on the targets, as plots, and in the
// format of Go's benchmarks. It measures nothing.
package report

import (
	"slices"

	"wasmkwokwizardry.io/regex-scheduling/bench/cycle"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
	"wasmkwokwizardry.io/regex-scheduling/bench/start"
	"wasmkwokwizardry.io/regex-scheduling/bench/whole"
)

// Run is all that one run measured. A part that was not measured is empty.
type Run struct {
	Machine Machine
	Command string // that measured it
	Cycles  []cycle.Result
	Whole   []whole.Result
	Starts  []start.Result
}

// The sizes of clusters that the targets name.
const (
	small = 1000
	large = 5000
)

// cycle returns a door's cycles, or nil.
func (r *Run) cycle(door, kase string, nodes int) *cycle.Result {
	return r.find(door, kase, nodes, cycle.Whole)
}

// preFilter returns a door's PreFilters, or nil.
func (r *Run) preFilter(door, kase string, nodes int) *cycle.Result {
	return r.find(door, kase, nodes, cycle.PreFilter)
}

func (r *Run) find(door, kase string, nodes int, part cycle.Part) *cycle.Result {
	for i, c := range r.Cycles {
		if c.Door == door && c.Case == kase && c.Nodes == nodes && c.Part == part {
			return &r.Cycles[i]
		}
	}
	return nil
}

func (r *Run) whole(door string, nodes int) *whole.Result {
	for i, w := range r.Whole {
		if w.Door == door && w.Nodes == nodes {
			return &r.Whole[i]
		}
	}
	return nil
}

// ratio compares two measurements of a run. It is empty if one is missing.
func ratio(over, under *cycle.Result) sample.Sample {
	if over == nil || under == nil {
		return nil
	}
	return sample.Ratio(over.Time, under.Time)
}

// doors are the doors with cycles, in the order in which they were measured.
func (r *Run) doors() (names []string) {
	for _, c := range r.Cycles {
		if !slices.Contains(names, c.Door) {
			names = append(names, c.Door)
		}
	}
	return names
}

// wholeNodes are the sizes of the clusters of whole schedulers.
func (r *Run) wholeNodes() (sizes []int) {
	for _, w := range r.Whole {
		if !slices.Contains(sizes, w.Nodes) {
			sizes = append(sizes, w.Nodes)
		}
	}
	return sizes
}

// nodes are the sizes of the clusters.
func (r *Run) nodes() (sizes []int) {
	for _, c := range r.Cycles {
		if !slices.Contains(sizes, c.Nodes) {
			sizes = append(sizes, c.Nodes)
		}
	}
	return sizes
}
