package command

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/capture"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// Exit statuses of what-ifs.
const (
	statusLost = 1 // something lacks a node: a lostError
	statusNone = 2 // there is no result
	// A shell says so of what Ctrl-C has ended.
	statusInterrupted = 130
)

// lostError says what lacks a node, or what else a result has that is a failure.
type lostError string

func (e lostError) Error() string { return string(e) }

// interruptedError is why a command that was interrupted has no result.
type interruptedError struct{ error }

// noResultError is any other error of a what-if.
type noResultError struct{ error }

func (e noResultError) Unwrap() error { return e.error }

// whatIfCommand makes a command whose exit status tells a bad result from none.
func whatIfCommand(cmd *cobra.Command, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		var lost lostError
		switch {
		case err == nil || errors.As(err, &lost):
			return err
		case cmd.Context().Err() != nil:
			return interruptedError{context.Cause(cmd.Context())} // the file that was being read is not at fault
		}
		return noResultError{err}
	}
	return cmd
}

// noArgs refuses arguments, and says what to do instead.
func noArgs(instead string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unexpected argument %q: %s", args[0], instead)
		}
		return nil
	}
}

// clusterFlags are the flags of which cluster is copied.
type clusterFlags struct {
	file    string
	maxSize maxSize
	live    capture.Options
	digest  string // of the file, when it was read
	notices []snapshot.Notice
	// addsNodes: the question brings nodes of its own, and is answered for a cluster without any.
	addsNodes bool
}

func (c *clusterFlags) add(flags *pflag.FlagSet) {
	c.addFile(flags)
	c.live.AddFlags(flags, "real cluster to read, instead of --cluster; it is only read")
}

func (c *clusterFlags) addFile(flags *pflag.FlagSet) {
	flags.StringVar(&c.file, "cluster", "", `file with the cluster: from "simulator snapshot", an export, or from kubectl get -o yaml or json; or a folder or an archive of such files, or - for standard input`)
	c.maxSize.add(flags)
	quietFlag(flags)
}

// check looks at the flags alone.
func (c *clusterFlags) check(cmd *cobra.Command) error {
	switch {
	case c.file == "" && c.live.Kubeconfig == "":
		return fmt.Errorf("--cluster FILE or --kubeconfig FILE is missing: which cluster is to be copied ($KUBECONFIG is not read); try simulator %s --help", cmd.Name())
	case c.file != "" && c.live.Kubeconfig != "":
		return errors.New("--cluster and --kubeconfig: choose one of the two")
	}
	return c.live.Check()
}

// notice prints what was skipped of the cluster. Call it after the answer.
func (c *clusterFlags) notice(cmd *cobra.Command) {
	if c.file == "" {
		list(cmd.ErrOrStderr(), "note", c.notices)
		return
	}
	for _, notice := range c.notices {
		fmt.Fprintln(warnings{cmd.ErrOrStderr()}, "notice:", notice)
	}
}

// read reads the cluster, and keeps what was skipped for notice. It has nodes, unless the question adds some.
func (c *clusterFlags) read(cmd *cobra.Command) (*snapshot.Snapshot, error) {
	cluster, err := c.readAny(cmd)
	if err == nil && len(cluster.Nodes) == 0 && !c.addsNodes {
		err = fmt.Errorf("%s has no nodes; this lists all kinds: %s", cluster.Source.Name(), snapshot.KubectlGet)
	}
	if err == nil && !c.addsNodes && !slices.ContainsFunc(cluster.Nodes, func(node v1.Node) bool { return !snapshot.LacksRoom(&node) }) {
		err = fmt.Errorf("%s: none of its nodes has status.allocatable.pods, as in manifests of nodes, and no pod fits; this lists nodes with their status, and all other kinds: %s",
			cluster.Source.Name(), snapshot.KubectlGet)
	}
	asks := []string{"compare", "drain", "fail", "shrink", "upgrade", "why"} // about pods of the cluster
	if err == nil && c.file != "" && len(cluster.Pods) == 0 && slices.Contains(asks, cmd.Name()) && !cmd.Flags().Changed("scenario") {
		err = fmt.Errorf("%s has no pods; this lists all kinds: %s", cluster.Source.Name(), snapshot.KubectlGet)
	}
	return cluster, err
}

func (c *clusterFlags) readAny(cmd *cobra.Command) (*snapshot.Snapshot, error) {
	ctx := cmd.Context()
	if c.file == "" {
		cluster, err := readCluster(ctx, c.live, progressOf(cmd))
		if err != nil {
			return nil, fmt.Errorf("--kubeconfig %s: %w", c.live.Kubeconfig, err)
		}
		c.notices = cluster.Source.Notes
		return cluster, nil
	}
	cluster, notices, err := readSnapshot(ctx, cmd.InOrStdin(), c.file, c.maxSize)
	c.notices = notices
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx) // the file is not at fault
	case err != nil:
		return nil, fmt.Errorf("--cluster %s: %w", c.file, err)
	}
	c.digest = cluster.Source.Digest
	return cluster, nil
}

// configHelp is how flags describe a configuration.
var configHelp = "a file with a KubeSchedulerConfiguration, or a plugin variant: " + strings.Join(simulator.Variants, ", ") +
	"; or what a managed cluster has: " + strings.Join(simulator.Presets, ", ")

// readAll is the content of a file, unless ctx is done before its end.
func readAll(ctx context.Context, path string) ([]byte, error) {
	return doUntil(ctx, func() ([]byte, error) { return readfile.All(path) })
}

// readScheduler reads the value of a flag: a plugin variant, a preset, or a file.
func readScheduler(ctx context.Context, flag, value string) (s compare.Scheduler, err error) {
	s = compare.Scheduler{Name: value, Label: flag + " " + value}
	if slices.Contains(simulator.Variants, value) || slices.Contains(simulator.Presets, value) {
		s.Config, err = simulator.SchedulerConfig(value)
		return s, err
	}
	s.Config, err = readAll(ctx, value)
	if errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("%s %s: there is no such file, and no such plugin variant: use %s; presets are %s",
			flag, value, strings.Join(simulator.Variants, ", "), strings.Join(simulator.Presets, ", "))
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", flag, err)
	}
	return s, nil
}

// readScenario reads the file of --scenario, if there is one, and its digest.
func readScenario(ctx context.Context, path string) (s side.Scenario, digest string, err error) {
	if path == "" {
		return s, "", nil
	}
	text, err := readAll(ctx, path)
	if err != nil {
		return s, "", fmt.Errorf("--scenario: %w", err)
	}
	scenario, err := side.ReadScenario(text)
	if err != nil {
		return s, "", fmt.Errorf("--scenario %s: %w", path, err)
	}
	return *scenario, fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

const scenarioHelp = "file with objects to create, update and delete afterwards, in steps"

func seedFlag(flags *pflag.FlagSet, seed *uint64) {
	flags.Uint64Var(seed, "seed", 1, "seed of the random choices that kube-scheduler makes")
}

func outputFlag(flags *pflag.FlagSet, format *string) {
	*format = "table"
	flags.VarP(cli.OneOf(format, report.Formats...), "output", "o", "output format: "+strings.Join(report.Formats, ", "))
}

// trial is what fit, drain, shrink and why have in common: they try something in a copy of a
// cluster, under one configuration.
type trial struct {
	clusterFlags
	plugins frameworkruntime.Registry
	config  string
	seed    uint64
	runs    int
	format  string

	ignoreAnnotations bool
}

func (t *trial) add(flags *pflag.FlagSet) {
	t.clusterFlags.add(flags)
	flags.StringVar(&t.config, "config", "", configHelp+" (default: the one in the file of --cluster, or else native)")
	flags.BoolVar(&t.ignoreAnnotations, "ignore-annotations", false, "give a result even if nothing in the configuration reads the regex of a pod")
	seedFlag(flags, &t.seed)
	outputFlag(flags, &t.format)
}

// ignores says of which pods nothing in a configuration reads the regex, and which annotations it reads, if it reads some.
func ignores(config string, pods, reads []string) error {
	instead := "native does"
	if len(reads) > 0 {
		instead = "it reads " + strings.Join(reads, ", ")
	}
	return fmt.Errorf("nothing in %s reads the regex of %s: %s; %s", config, report.Plural(len(pods), "pod"), report.Few(pods), instead)
}

// mostRuns bounds the list of runs in a result.
const mostRuns = 10_000

func (t *trial) addRuns(flags *pflag.FlagSet) {
	flags.Lookup("seed").Usage += "; further runs count up from it"
	t.runs = 1
	flags.Var(cli.Number(&t.runs, 1, mostRuns), "runs", "number of runs, each with another seed, to see what chance does")
}

// tried is what a trial does its work with.
type tried struct {
	engine.Options
	progress engine.Progress
}

// found is the result of a trial.
type found struct {
	data   any // for JSON
	report report.Report
	basis  *report.Basis
	page   func(io.Writer) error // writes HTML; nil: that is of the report
	lost   string                // what lacks a node; may be empty
}

// try reads the cluster and the configuration, does something with them, and writes the result.
func (t *trial) try(cmd *cobra.Command, do func(with tried) (found, error)) error {
	defer t.notice(cmd)
	result, err := t.result(cmd, func(with tried) (found, error) {
		with.ReadAll = !t.ignoreAnnotations
		return do(with)
	})
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if t.format == "html" && result.page != nil {
		err = result.page(out)
	} else {
		err = report.Write(out, t.format, result.data, result.report)
	}
	if err == nil && result.lost != "" {
		return lostError(result.lost)
	}
	return err
}

func (t *trial) result(cmd *cobra.Command, do func(with tried) (found, error)) (none found, err error) {
	if err := t.check(cmd); err != nil {
		return none, err
	}
	cluster, err := t.read(cmd)
	if err != nil {
		return none, err
	}
	scheduler, reason, err := t.scheduler(cmd.Context(), cluster)
	if err != nil {
		return none, err
	}
	options, done, err := simulator.WhatIf(scheduler.Config, t.plugins)
	if err != nil {
		return none, fmt.Errorf("%s: %w", scheduler.Label, kubescheduler.WithLines(err))
	}
	defer func() { _ = done() }()
	options.ConfigName = scheduler.Name
	options.ConfigReason = reason
	options.Cluster = cluster
	options.Seed = t.seed
	progress := progressOf(cmd)
	defer progress.end()
	result, err := doUntil(cmd.Context(), func() (found, error) { return do(tried{options, progress.step}) })
	mistakes, unread := kubescheduler.Mistakes(nil), (*engine.UnreadError)(nil)
	switch {
	case errors.As(err, &unread):
		err = fmt.Errorf("%w; --ignore-annotations accepts that", ignores(scheduler.Name, unread.Pods, unread.Reads))
	case errors.As(err, &mistakes):
		err = fmt.Errorf("%s: %w", scheduler.Label, kubescheduler.WithLines(err))
	}
	return result, err
}

// scheduler is the configuration to try, and why it is this one.
func (t *trial) scheduler(ctx context.Context, cluster *snapshot.Snapshot) (s compare.Scheduler, reason string, err error) {
	const fromFile = "the configuration in the cluster's file"
	switch {
	case t.config != "":
		reason = "--config"
	case len(cluster.SchedulerConfig) > 0 && string(cluster.SchedulerConfig) != "null":
		return compare.Scheduler{Name: fromFile, Label: fromFile, Config: cluster.SchedulerConfig}, "default", nil
	case t.file == "":
		reason = "default: a kubeconfig does not say what the scheduler has"
	default:
		reason = "default: --cluster has no configuration"
	}
	s, err = readScheduler(ctx, "--config", cmp.Or(t.config, "native"))
	return s, reason, err
}

// patience is how long what was interrupted may take to end. Then it is left behind.
const patience = 500 * time.Millisecond

// doUntil does something until it is done, or until moments after ctx is: reading a pipe may never be.
func doUntil[T any](ctx context.Context, do func() (T, error)) (none T, err error) {
	done := make(chan func() (T, error), 1)
	go func() {
		result, err := do()
		done <- func() (T, error) { return result, err }
	}()
	late := make(chan struct{})
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, func() { close(late) }) })()
	select {
	case result := <-done:
		return result()
	case <-late:
		return none, context.Cause(ctx)
	}
}
