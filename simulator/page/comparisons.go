package page

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
	"wasmkwokwizardry.io/regex-scheduling/simulator/compare/report"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/jobs"
)

// comparison is the configuration that ran against one that was typed.
type comparison struct {
	*jobs.Job
	A, B  string // what the configurations are called
	Pods  string // one of compare.Modes
	Typed string // B
	Began time.Time
	// Result is set before the job is finished, if that ends well.
	Result *compare.Result
}

// comparisons are those under way, and the last few that were.
type comparisons struct {
	// turn holds a value while one runs. Two that start together would both find
	// the memory that one of them takes, and would not end sooner.
	turn chan struct{}

	mu  sync.Mutex
	all []*comparison // the oldest first
}

func newComparisons() *comparisons { return &comparisons{turn: make(chan struct{}, 1)} }

// keptComparisons bounds the memory: each has every pod that differs, with what
// was said of every node. Of those that came to nothing as many are kept.
const keptComparisons = 3

// start begins a comparison, and its work when its turn comes.
func (c *comparisons) start(all *jobs.Jobs, one *comparison, work func(context.Context, *jobs.Job) jobs.Outcome) *jobs.Job {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.Began = time.Now()
	one.Job = all.Start("Comparing", func(ctx context.Context, job *jobs.Job) jobs.Outcome {
		select {
		case c.turn <- struct{}{}:
		default:
			job.Say("waits until the comparison before it has ended")
			select {
			case c.turn <- struct{}{}:
			case <-ctx.Done():
				return stopped
			}
		}
		defer func() { <-c.turn }()
		return work(ctx, job)
	})
	c.all = append(c.all, one)
	return one.Job
}

// forget drops the oldest of those that have ended, if there are too many.
func (c *comparisons) forget() {
	kept := map[bool]int{}
	for i, one := range slices.Backward(c.all) {
		if !one.Ended() {
			continue
		}
		good := one.Result != nil
		if kept[good]++; kept[good] > keptComparisons {
			c.all = slices.Delete(c.all, i, i+1)
		}
	}
}

// list are all that are known, the newest first.
func (c *comparisons) list() []*comparison {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	all := slices.Clone(c.all)
	slices.Reverse(all)
	return all
}

func (c *comparisons) get(id string) *comparison {
	number, _ := strconv.Atoi(id)
	for _, one := range c.list() {
		if one.ID == number {
			return one
		}
	}
	return nil
}

// URL is where the page shows it.
func (c *comparison) URL() string { return "/compare/" + strconv.Itoa(c.ID) }

// Verdict says in a line what came of it.
func (c *comparison) Verdict() string { return report.Verdict(c.Result) }

// What says which pods are compared.
func (c *comparison) What() string {
	if c.Pods == compare.All {
		return "every pod anew"
	}
	return "the pods that waited"
}

// pods are those that are a fault of the copy, all that come out differently, and
// those that only chance moved.
func (c *comparison) pods() []compare.Difference {
	return slices.Concat(c.Result.Unplaced, c.Result.Differences, c.Result.Nowhere, c.Result.Ties)
}

// comparisonsTab is the tab of the views of comparisons.
const comparisonsTab = "comparisons"

// comparisonList shows the comparisons that run, and those that have ended.
func (p *page) comparisonList(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, "comparisons", "Comparisons", comparisonsTab, map[string]any{"All": p.comparisons.list()})
}

// ofComparison hands on the comparison that an address names, once it has ended.
func (p *page) ofComparison(show func(http.ResponseWriter, *http.Request, *comparison)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		one := p.comparisons.get(r.PathValue("id"))
		switch {
		case one == nil:
			p.gone(w, r, fmt.Sprintf("This comparison is not kept any more: only the last %d are.", keptComparisons))
		case !one.Ended() || one.Result == nil:
			http.Redirect(w, r, "/compare", http.StatusSeeOther)
		default:
			show(w, r, one)
		}
	}
}
