package words

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Basis is what the answer to a what-if stands on.
type Basis struct {
	Config      string   `json:"config,omitempty"` // the name of the configuration
	Seed        uint64   `json:"seed"`             // of the run that is shown
	Runs        []Run    `json:"runs,omitempty"`   // all of them, if there are several
	Counts      string   `json:"counts,omitempty"` // what the runs' Count is of, such as "pods that would stay pending"
	NotModelled []string `json:"notModelled"`      // what the scheduler asked for and the copy does not have
}

// Run is a run with a seed, and the number that distinguishes it.
type Run struct {
	Seed  uint64 `json:"seed"`
	Count int    `json:"count"`
}

// String is the last line of a report.
func (b *Basis) String() string {
	under := ""
	if b.Config != "" {
		under = " under " + b.Config
	}
	if len(b.Runs) < 2 {
		return Tried(under, b.Seed, 1, b.NotModelled)
	}
	return fmt.Sprintf("%s: %s. Shown is the run with seed %d. %s",
		tried(under, b.Runs[0].Seed, len(b.Runs)), b.often(), b.Seed, unmodelled(b.NotModelled))
}

// often says in how many runs there were how many, such as "pods that would stay pending: 0 in 2 runs, 3 in 1 run".
func (b *Basis) often() string {
	runs := map[int]int{}
	for _, run := range b.Runs {
		runs[run.Count]++
	}
	var all []string
	for _, count := range slices.Sorted(maps.Keys(runs)) {
		all = append(all, fmt.Sprintf("%d in %s", count, Plural(runs[count], "run")))
	}
	return b.Counts + ": " + strings.Join(all, ", ")
}

// Tried is the last line of a report of one or more runs, the seeds of which count up from
// the first.
func Tried(under string, first uint64, runs int, notModelled []string) string {
	return tried(under, first, runs) + ". " + unmodelled(notModelled)
}

func tried(under string, first uint64, runs int) string {
	if runs < 2 {
		return fmt.Sprintf("Tried in memory%s, with seed %d", under, first)
	}
	return fmt.Sprintf("Tried in memory%s, %d times, with seeds %d to %d", under, runs, first, first+uint64(runs)-1)
}

func unmodelled(asked []string) (text string) {
	if len(asked) > 0 {
		text = "Requested, and not modelled: " + strings.Join(asked, ", ") + ". "
	}
	return text + "Webhooks, quotas and autoscalers are not modelled."
}
