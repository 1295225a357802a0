package page

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// ended waits for the end of a job, and returns its outcome.
func ended(t *testing.T, one *job) outcome {
	t.Helper()
	testkit.EventuallyReceives(t, one.Title+" ends", one.ended)
	return one.Outcome
}

// id is the ID of a later job.
func id(one *job, after int) string { return strconv.Itoa(one.ID + after) }

// running are the jobs that have not ended.
func (j *jobs) running() []*job { return slices.DeleteFunc(j.list(), (*job).Ended) }

func TestJobHasProgressAndAnOutcome(t *testing.T) {
	all := &jobs{ctx: t.Context()}
	halfway, goOn := make(chan struct{}), make(chan struct{})
	one := all.start("Counting", func(_ context.Context, at *job) (outcome, error) {
		at.report(progress{1, 2, []string{"one", "two"}})
		close(halfway)
		<-goOn
		return outcome{Notice: "counted"}, nil
	})
	<-halfway
	testkit.Equal(t, one.Progress().Phases, []string{"one", "two"}, "the phases")
	if one.Progress().Done != 1 || one.Progress().Of != 2 || len(all.running()) != 1 || all.get(id(one, 0)) != one {
		t.Errorf("halfway: %d of %d, running %v, kept as %v", one.Progress().Done, one.Progress().Of, all.running(), all.get(id(one, 0)))
	}
	close(goOn)
	came := ended(t, one)
	if came.Notice != "counted" || len(all.running()) != 0 || all.get(id(one, 0)) != one {
		t.Errorf("at the end: %+v, running %v, kept as %v", came, all.running(), all.get(id(one, 0)))
	}
	if all.get(id(one, 1)) != nil {
		t.Error("a job that was never started is there")
	}
}

func TestCancelAndResetStopJobs(t *testing.T) {
	all := &jobs{ctx: t.Context()}
	wait := func(ctx context.Context, _ *job) (outcome, error) {
		<-ctx.Done()
		return outcome{}, ctx.Err()
	}
	first := all.start("first", wait)
	first.cancel()
	stopped := ended(t, first)
	if len(stopped.Problems) != 1 || stopped.Problems[0].Message != "stopped" {
		t.Errorf("got %+v", stopped)
	}
	creating, comparing := all.start("Creating", wait), all.add(&job{Title: "Comparing", Again: "/compare/new"}, wait)
	reset := all.start("Resetting", func(_ context.Context, own *job) (outcome, error) {
		all.stopOthers(own)
		return outcome{Notice: "reset"}, nil
	})
	came := ended(t, reset)
	if came.Notice != "reset" || !creating.Ended() || comparing.Ended() {
		t.Errorf("got %+v; creating has ended: %v, comparing: %v", came, creating.Ended(), comparing.Ended())
	}
}
