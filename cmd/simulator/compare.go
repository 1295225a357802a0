package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/compare/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/snapshot"
)

// comparison are the flags of compare.
type comparison struct {
	compare.Options
	cluster, scenario string
	a, b              string
	format            string
}

func newCompare() *cobra.Command {
	c := &comparison{}
	cmd := &cobra.Command{
		Use:   "compare --cluster cluster.yaml --a a.yaml --b b.yaml",
		Short: "Schedule the same pods under two configurations, and show which come out differently, and why",
		Long: `Schedule the same pods under two configurations, and show which come out differently, and why.

The exit status is 0 if every pod that has a node under A has one under B, 1 if one has none, and 2
if there was no comparison.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStatus(statusNone, c.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return withStatus(statusNone, err) })
	flags := cmd.Flags()
	either := "a KubeSchedulerConfiguration, or one of " + strings.Join(simulator.Doors, ", ")
	flags.StringVar(&c.cluster, "cluster", "", "file with the cluster: as exported, or from kubectl get")
	flags.StringVar(&c.a, "a", "", "the configuration as it is: "+either)
	flags.StringVar(&c.b, "b", "", "the configuration as it would be: "+either)
	flags.StringVar(&c.Pods, "pods", compare.Pending,
		"which pods are scheduled: pending (those without a node), or all (every pod anew, in the order of creation)")
	flags.StringVar(&c.scenario, "scenario", "", "file with what happens then: objects that are created, updated and deleted, in steps")
	flags.IntVar(&c.Runs, "runs", 1, "how often, with other dice each time, to see what chance does")
	flags.Uint64Var(&c.Seed, "seed", 1, "of the dice of the first run")
	flags.DurationVar(&c.Patience, "patience", compare.DefaultPatience, "how long nothing new may happen before a side is given up")
	flags.BoolVar(&c.InTurn, "in-turn", false, "one side after the other, as is done by itself where memory is scarce")
	flags.StringVarP(&c.format, "output", "o", "table", "table, json, or html: a page that is one file")
	return cmd
}

// Exit statuses of compare.
const (
	statusLost = 1
	statusNone = 2
)

// statusError is an error with an exit status of its own.
type statusError struct {
	error
	status int
}

func (e statusError) Unwrap() error { return e.error }

func withStatus(status int, err error) error {
	var has statusError
	if err == nil || errors.As(err, &has) {
		return err
	}
	return statusError{err, status}
}

func (c *comparison) run(ctx context.Context, out, errOut io.Writer) error {
	write := report.Formats[c.format]
	if write == nil {
		return fmt.Errorf("--output %q is none of %s", c.format, strings.Join(slices.Sorted(maps.Keys(report.Formats)), ", "))
	}
	if err := c.read(errOut); err != nil {
		return err
	}
	if !c.InTurn && !compare.RoomForTwo(c.Cluster) {
		fmt.Fprintln(errOut, "simulator: one side after the other: there is no memory for both at once")
		c.InTurn = true
	}
	c.Progress, c.Warnings = (&steps{to: errOut, began: time.Now()}).say, warnings{errOut}
	result, err := compare.Run(ctx, c.Options)
	if err != nil {
		return err
	}
	if err := write(out, result); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	switch lost := result.Lost(); lost {
	case 0:
		return nil
	case 1:
		return withStatus(statusLost, errors.New("1 pod has a node under A and none under B"))
	default:
		return withStatus(statusLost, fmt.Errorf("%d pods have a node under A and none under B", lost))
	}
}

// read reads all files before anything is started.
func (c *comparison) read(errOut io.Writer) error {
	for flag, value := range map[string]string{"--cluster": c.cluster, "--a": c.a, "--b": c.b} {
		if value == "" {
			return fmt.Errorf("%s is missing; try simulator compare --help", flag)
		}
	}
	var errA, errB, err error
	c.A, errA = readSide("--a", c.a)
	c.B, errB = readSide("--b", c.b)
	if errA != nil && errB != nil {
		return fmt.Errorf("%w; %w", errA, errB)
	} else if err := cmp.Or(errA, errB); err != nil {
		return err
	}
	if c.Cluster, err = readObjects(c.cluster, errOut); err != nil {
		return fmt.Errorf("--cluster %s: %w", c.cluster, err)
	}
	if c.scenario == "" {
		return nil
	}
	text, err := os.ReadFile(c.scenario)
	if err != nil {
		return fmt.Errorf("--scenario: %w", err)
	}
	scenario, err := compare.ReadScenario(text)
	if err != nil {
		return fmt.Errorf("--scenario %s: %w", c.scenario, err)
	}
	c.Scenario = *scenario
	return nil
}

func readObjects(path string, errOut io.Writer) (*snapshot.Snapshot, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	objects, notices, err := snapshot.Read(file)
	for _, notice := range notices {
		fmt.Fprintln(warnings{errOut}, "notice:", notice)
	}
	return objects, err
}

// readSide takes a door's name, or else a file.
func readSide(flag, value string) (compare.Side, error) {
	side := compare.Side{Name: value, Label: flag + " " + value}
	var err error
	if slices.Contains(simulator.Doors, value) {
		side.Config, err = simulator.SchedulerConfig(value)
		return side, err
	}
	if side.Config, err = os.ReadFile(value); errors.Is(err, os.ErrNotExist) {
		return side, fmt.Errorf("%s %s: there is no such file, and no such door: doors are %s", flag, value, strings.Join(simulator.Doors, ", "))
	} else if err != nil {
		return side, fmt.Errorf("%s: %w", flag, err)
	}
	return side, nil
}

// often is how long a step goes on before it is told of again.
const often = 3 * time.Second

// steps tells how far both sides are.
type steps struct {
	to    io.Writer
	began time.Time

	mu   sync.Mutex
	told map[string]told // by side
}

type told struct {
	run  int
	step string
	at   time.Time
}

func (s *steps) say(p compare.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil {
		s.told = map[string]told{}
	}
	last := s.told[p.Side]
	if last.run == p.Run && last.step == p.Step && time.Since(last.at) < often {
		return
	}
	s.told[p.Side] = told{p.Run, p.Step, time.Now()}
	fmt.Fprintf(s.to, "%6.1fs  %v\n", time.Since(s.began).Seconds(), p)
}
