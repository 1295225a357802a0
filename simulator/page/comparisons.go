package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
	"wasmkwokwizardry.io/regex-scheduling/simulator/compare/report"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/typed"
)

// comparison is the configuration that ran against one that was typed.
type comparison struct {
	*job
	A, B   string // what the configurations are called
	Pods   string // one of compare.Modes
	Typed  string // B
	Began  time.Time
	Result *compare.Result // set before the job is finished, if that ends well
}

// URL is where the page shows it.
func (c *comparison) URL() string { return "/compare/" + strconv.Itoa(c.ID) }

// Verdict says in a line what came of it.
func (c *comparison) Verdict() string { return report.Verdict(c.Result) }

// comparisons are those under way, and the last few that were.
type comparisons struct {
	// turn holds a value while one runs: two at once need twice the memory, and would
	// not end sooner.
	turn chan struct{}

	mu  sync.Mutex
	all []*comparison // the oldest first
}

func newComparisons() *comparisons { return &comparisons{turn: make(chan struct{}, 1)} }

// keptComparisons bounds the memory: each has every pod that differs, with what
// was said of every node. Of those that came to nothing as many are kept.
const keptComparisons = 3

// start begins a comparison, and its work when its turn comes.
func (c *comparisons) start(all *jobs, one *comparison, work func(context.Context) outcome) *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.Began = time.Now()
	one.job = all.start("Comparing", func(ctx context.Context, job *job) outcome {
		job.tell(progress{Phases: []string{"waits until the comparison before it has ended"}})
		select {
		case c.turn <- struct{}{}:
		case <-ctx.Done():
			return stopped
		}
		defer func() { <-c.turn }()
		job.tell(progress{})
		return work(ctx)
	})
	c.all = append(c.all, one)
	return one.job
}

// list are all that are known, the newest first. Of those that have ended it forgets
// the oldest, if there are too many.
func (c *comparisons) list() []*comparison {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := map[bool]int{}
	var all []*comparison
	for _, one := range slices.Backward(c.all) {
		if one.Ended() {
			good := one.Result != nil
			if kept[good]++; kept[good] > keptComparisons {
				continue
			}
		}
		all = append(all, one)
	}
	c.all = slices.Clone(all)
	slices.Reverse(c.all)
	return all
}

func (c *comparisons) get(id string) *comparison {
	all := c.list()
	i := slices.IndexFunc(all, func(one *comparison) bool { return strconv.Itoa(one.ID) == id })
	if i < 0 {
		return nil
	}
	return all[i]
}

const comparisonsTab = "comparisons"

func (p *page) comparisonList(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "comparisons", "Comparisons", comparisonsTab, map[string]any{"All": p.comparisons.list()})
}

// runningJobs are the jobs that a tab does not show itself, and whether there are
// comparisons.
func (p *page) runningJobs(tab string) (running []*job, compared bool) {
	all := p.comparisons.list()
	running = slices.DeleteFunc(p.jobs.running(), func(job *job) bool {
		return tab == comparisonsTab && slices.ContainsFunc(all, func(one *comparison) bool { return one.job == job })
	})
	return running, len(all) > 0
}

// compared shows the report of a comparison, which is a page of its own.
func (p *page) compared(w http.ResponseWriter, r *http.Request) error {
	one := p.comparisons.get(r.PathValue("id"))
	if one == nil {
		return notThere(fmt.Sprintf("This comparison is not kept any more: only the last %d are.", keptComparisons))
	}
	if !one.Ended() || one.Result == nil {
		http.Redirect(w, r, "/compare", http.StatusSeeOther)
		return nil
	}
	var out bytes.Buffer
	if err := report.Page(&out, one.Result, "/compare"); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", report.Policy)
	send(w, http.StatusOK, out.Bytes())
	return nil
}

// compare schedules the pods that are there under the configuration that runs and
// under what was typed, in clusters of their own.
func (p *page) compare(w http.ResponseWriter, r *http.Request) error {
	text, pods := r.FormValue("text"), r.FormValue("pods")
	if _, err := scheduler.Read([]byte(text)); err != nil {
		return finish(w, r, "", typed.ConfigRefusal(text, err))
	}
	snapshot, err := p.sim.Export(r.Context())
	if err != nil {
		return finish(w, r, "", because(err))
	}
	runs := p.sim.SchedulerConfig()
	one := &comparison{A: configTitle(runs), B: configTitle([]byte(text)), Pods: pods, Typed: text}
	return p.await(w, r, p.comparisons.start(p.jobs, one, func(ctx context.Context) outcome {
		result, err := compare.Run(ctx, compare.Options{
			A:       compare.Side{Name: one.A, Label: "the configuration that runs", Config: runs},
			B:       compare.Side{Name: one.B, Label: "what is typed", Config: []byte(text)},
			Cluster: snapshot, Pods: pods, Seed: 1, Progress: phases(one.job),
		})
		if ctx.Err() != nil {
			return stopped
		}
		if errors.Is(err, compare.ErrNothing) && pods == compare.Pending && len(snapshot.Pods) > 0 {
			err = fmt.Errorf("%w; choose “every pod anew”, which schedules those, too", err)
		}
		if err != nil {
			return outcome{Problems: comparisonProblems(text, err)}
		}
		one.Result = result
		return outcome{Notice: one.Verdict(), Link: one.URL()}
	}))
}

var stopped = outcome{Problems: []typed.Problem{{Message: "stopped"}}}

// comparisonProblems are at the lines of what is typed if they are about that.
func comparisonProblems(text string, err error) (all []typed.Problem) {
	var sides compare.SideErrors
	if !errors.As(err, &sides) {
		return because(err)
	}
	for _, side := range sides {
		if side.Side == "B" {
			all = append(all, typed.ConfigRefusal(text, side.Err)...)
		} else {
			all = append(all, because(side)...)
		}
	}
	return all
}

// phases tells a job what each side is at, and adds up how far they are with what
// takes the longest.
func phases(job *job) func(compare.Progress) {
	var mu sync.Mutex
	sides := map[string]compare.Progress{}
	return func(now compare.Progress) {
		mu.Lock()
		defer mu.Unlock()
		sides[now.Side] = now
		var all progress
		for _, letter := range slices.Sorted(maps.Keys(sides)) {
			side := sides[letter]
			all.Phases = append(all.Phases, side.String())
			if side.Step == compare.Schedules {
				all.Done, all.Of = all.Done+side.Done, all.Of+side.Of
			}
		}
		job.tell(all)
	}
}
