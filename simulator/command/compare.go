package command

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
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
	"wasmkwokwizardry.io/regex-scheduling/simulator/compare/report"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot/capture"
)

type comparison struct {
	compare.Options
	file           string // with the cluster
	live           capture.Options
	scenario, a, b string
	format         string
	acceptUnplaced bool
}

const compareName = "compare"

func newCompare(plugins frameworkruntime.Registry) *cobra.Command {
	c := &comparison{Options: compare.Options{Plugins: plugins}}
	cmd := newCommand(compareName+" {--cluster cluster.yaml | --kubeconfig FILE} --a a.yaml --b b.yaml",
		"Schedule the same pods under two configurations, and show which come out differently, and why",
		func(ctx context.Context, cmd *cobra.Command) error {
			return c.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		})
	cmd.Long = cmd.Short + `.

The exit status is 0 if every pod that has a node under A has one under B, 1 if one has none, and 2
if there was no comparison: if no pod was there to be scheduled, too, and if pods that run in the
cluster have no node under A, unless --accept-unplaced is given.`
	flags := cmd.Flags()
	either := "a KubeSchedulerConfiguration, or one of " + strings.Join(simulator.Doors, ", ")
	flags.StringVar(&c.file, "cluster", "", "file with the cluster: as exported, or from kubectl get")
	c.live.AddFlags(flags, "real cluster to read, instead of --cluster; it is only read")
	flags.StringVar(&c.a, "a", "", "the configuration as it is: "+either)
	flags.StringVar(&c.b, "b", "", "the configuration as it would be: "+either)
	c.AddFlags(flags)
	flags.StringVar(&c.scenario, "scenario", "", "file with what happens then: objects that are created, updated and deleted, in steps")
	flags.BoolVar(&c.acceptUnplaced, "accept-unplaced", false,
		"go by the other pods where some that run in the cluster have no node under A, and list those")
	flags.StringVarP(&c.format, "output", "o", "table", "table, json, or html: a page that is one file")
	return cmd
}

// Exit statuses of compare.
const (
	statusLost = 1
	statusNone = 2
)

// lostError is that pods have a node under A and none under B.
type lostError string

func (e lostError) Error() string { return string(e) }

func (c *comparison) run(ctx context.Context, out, errOut io.Writer) error {
	write := report.Formats[c.format]
	if write == nil {
		return fmt.Errorf("--output %q is none of %s", c.format, strings.Join(slices.Sorted(maps.Keys(report.Formats)), ", "))
	}
	if err := c.read(ctx, errOut); err != nil {
		return err
	}
	c.Progress, c.Warnings = (&steps{to: errOut, began: time.Now(), last: map[string]shown{}}).say, warnings{errOut}
	result, err := compare.Run(ctx, c.Options)
	if errors.Is(err, compare.ErrNothing) && c.Pods == compare.Pending && len(c.Cluster.Pods) > 0 {
		return fmt.Errorf("%w; --pods all schedules anew those that have a node", err)
	} else if err != nil {
		return err
	}
	if err := write(out, result); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return c.judge(result)
}

func (c *comparison) judge(result *compare.Result) error {
	few := func(n int, one, many string) string {
		if n == 1 {
			return "1 pod " + one
		}
		return fmt.Sprint(n, " pods ", many)
	}
	if unplaced := result.Unplaced; !c.acceptUnplaced && len(unplaced) > 0 {
		return fmt.Errorf("%s no node under A: %s; if A is what the cluster runs with, the copy lacks what they need, such as claims and volumes "+
			"(simulator snapshot takes them along); --accept-unplaced goes by the other pods",
			few(len(unplaced), "runs in the cluster and has", "run in the cluster and have"), names(unplaced))
	}
	if lost := result.Lost(); lost > 0 {
		return lostError(few(lost, "has", "have") + " a node under A and none under B")
	}
	return nil
}

func names(pods []compare.Difference) string {
	const few = 5
	var all []string
	for _, pod := range pods[:min(few, len(pods))] {
		all = append(all, pod.Namespace+"/"+pod.Name)
	}
	if more := len(pods) - few; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// read reads all files, and the cluster, before anything is started.
func (c *comparison) read(ctx context.Context, errOut io.Writer) error {
	for flag, value := range map[string]string{"--cluster or --kubeconfig": c.file + c.live.Kubeconfig, "--a": c.a, "--b": c.b} {
		if value == "" {
			return fmt.Errorf("%s is missing; try simulator compare --help", flag)
		}
	}
	if c.file != "" && c.live.Kubeconfig != "" {
		return errors.New("--cluster and --kubeconfig: choose one of the two")
	}
	if err := c.live.Check(); err != nil {
		return err
	}
	var errA, errB, err error
	c.A, errA = readSide("--a", c.a)
	c.B, errB = readSide("--b", c.b)
	if errA != nil && errB != nil {
		return fmt.Errorf("%w; %w", errA, errB)
	}
	if err := cmp.Or(errA, errB, c.readScenario()); err != nil {
		return err
	}
	if c.file == "" {
		if c.Cluster, err = readCluster(ctx, c.live, errOut); err != nil {
			return fmt.Errorf("--kubeconfig %s: %w", c.live.Kubeconfig, err)
		}
		list(errOut, "note", c.Cluster.Source.Notes)
		return nil
	}
	var notices []snapshot.Notice
	c.Cluster, notices, err = readSnapshot(c.file)
	for _, notice := range notices {
		fmt.Fprintln(warnings{errOut}, "notice:", notice)
	}
	if err != nil {
		return fmt.Errorf("--cluster %s: %w", c.file, err)
	}
	return nil
}

func (c *comparison) readScenario() error {
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

// often is how long a step goes on before it is shown again.
const often = 3 * time.Second

type steps struct {
	to    io.Writer
	began time.Time

	mu   sync.Mutex
	last map[string]shown // by side
}

type shown struct {
	run  int
	step string
	at   time.Time
}

func (s *steps) say(p compare.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.last[p.Side]; last.run == p.Run && last.step == p.Step && time.Since(last.at) < often {
		return
	}
	s.last[p.Side] = shown{p.Run, p.Step, time.Now()}
	fmt.Fprintf(s.to, "%6.1fs  %v\n", time.Since(s.began).Seconds(), p)
}
