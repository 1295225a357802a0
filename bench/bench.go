package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/bench/cycle"
	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/bench/progress"
	"wasmkwokwizardry.io/regex-scheduling/bench/report"
	"wasmkwokwizardry.io/regex-scheduling/bench/start"
	"wasmkwokwizardry.io/regex-scheduling/bench/whole"
)

// bench measures what was asked for, and tells it.
func (o options) bench(ctx context.Context, stdout, stderr io.Writer) error {
	began := time.Now()
	doors, err := door.All(o.floors, o.guestFiles())
	if err != nil {
		return fmt.Errorf("%w (run it in the folder of the repository)", err)
	}
	if doors, err = o.chosen(doors); err != nil {
		return err
	}
	stop, err := o.startProfile()
	if err != nil {
		return err
	}
	r := &report.Run{Machine: report.ThisMachine(), Command: strings.Join(append([]string{"bench"}, o.args...), " ")}
	err = errors.Join(o.measure(ctx, r, doors, progress.To(stderr)), stop())
	if err != nil && ctx.Err() == nil {
		return err
	}
	// Whoever interrupts it is told what was measured until then.
	fmt.Fprintf(stdout, "%s\n", r.Machine.Text)
	for _, t := range r.Tables() {
		fmt.Fprintf(stdout, "\n%s", t.Text())
	}
	if err := errors.Join(err, o.write(r)); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nTook %s. Tables, plots and raw numbers are in %s: benchstat compares the raw.txt of two runs.\n",
		time.Since(began).Round(time.Second), o.out)
	return nil
}

func (o options) measure(ctx context.Context, r *report.Run, doors []door.Door, p *progress.Progress) (err error) {
	defer p.End()
	if o.has("start") {
		if r.Starts, err = start.Run(ctx, doors, o.startRounds(), p.Say); err != nil {
			return err
		}
	}
	if o.has("cycle") {
		plan := o.cyclePlan()
		plan.Say = p.Say
		if r.Cycles, err = cycle.Run(ctx, plan, doors); err != nil {
			return err
		}
	}
	if o.has("whole") {
		for i, nodes := range o.nodes {
			plan := o.wholePlan(nodes)
			plan.Say = p.Say
			results, err := whole.Run(ctx, plan, o.wholeDoors(doors, i == 0))
			r.Whole = append(r.Whole, results...)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
