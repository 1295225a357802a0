package jobs

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"
)

// finish waits for the end of a job, and returns what came of it.
func finish(t *testing.T, one *Job) Outcome {
	t.Helper()
	select {
	case <-one.Finished():
	case <-time.After(time.Minute):
		t.Fatalf("%q is at %d of %d", one.Title, one.Done(), one.Of())
	}
	return one.Outcome()
}

// id is that of the job that was started so many after one.
func id(one *Job, after int) string { return strconv.Itoa(one.ID + after) }

func TestAJobSaysHowFarItIsAndWhatCameOfIt(t *testing.T) {
	all := New(t.Context())
	halfway, goOn := make(chan struct{}), make(chan struct{})
	one := all.Start("Counting", func(_ context.Context, at *Job) Outcome {
		at.Progress(1, 2)
		at.Say("one", "two")
		close(halfway)
		<-goOn
		return Outcome{Notice: "counted"}
	})
	<-halfway
	if !slices.Equal(one.Phases(), []string{"one", "two"}) {
		t.Errorf("it is at %q", one.Phases())
	}
	if one.Done() != 1 || one.Of() != 2 || len(all.Running()) != 1 || all.Get(id(one, 0)) != one {
		t.Errorf("halfway: %d of %d, running %v, kept as %v", one.Done(), one.Of(), all.Running(), all.Get(id(one, 0)))
	}
	close(goOn)
	if came := finish(t, one); came.Notice != "counted" || len(all.Running()) != 0 || all.Get(id(one, 0)) != one {
		t.Errorf("at the end: %+v, running %v, kept as %v", came, all.Running(), all.Get(id(one, 0)))
	}
	if all.Get(id(one, 1)) != nil {
		t.Error("a job that nobody started is there")
	}
}

func TestOnlyTheJobThatIsCancelledEnds(t *testing.T) {
	all := New(t.Context())
	wait := func(ctx context.Context, _ *Job) Outcome {
		<-ctx.Done()
		return Outcome{Notice: "stopped"}
	}
	first, second := all.Start("first", wait), all.Start("second", wait)
	first.Cancel()
	if came := finish(t, first); came.Notice != "stopped" {
		t.Errorf("got %+v", came)
	}
	if running := all.Running(); len(running) != 1 || running[0] != second {
		t.Errorf("running: %v", running)
	}
}

func TestAJobUnderWayIsNotForgottenHoweverManyCome(t *testing.T) {
	all := New(t.Context())
	first := all.Start("first", func(ctx context.Context, _ *Job) Outcome {
		<-ctx.Done()
		return Outcome{}
	})
	for range 2 * kept {
		finish(t, all.Start("another", func(context.Context, *Job) Outcome { return Outcome{} }))
	}
	if all.Get(id(first, 0)) != first || len(all.Running()) != 1 {
		t.Errorf("the first is kept as %v; running %v", all.Get(id(first, 0)), all.Running())
	}
	if all.Get(id(first, 1)) != nil || all.Get(id(first, 2*kept)) == nil {
		t.Error("the oldest finished one is kept, or the last is not")
	}
}
