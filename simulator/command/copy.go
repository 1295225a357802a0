package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	kubescheduler "wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/snapshot/capture"
	"wasmkwokwizardry.io/regex-scheduling/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/whatif/engine"
)

// clusterFlags are the flags of commands that try something on a copy of a cluster.
type clusterFlags struct {
	file    string // with the cluster
	maxSize maxSize
	live    capture.Options
}

func (c *clusterFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&c.file, "cluster", "", "file with the cluster: as exported, or from kubectl get")
	c.maxSize.add(flags)
	c.live.AddFlags(flags, "real cluster to read, instead of --cluster; it is only read")
	quietFlag(flags)
}

// check is read's first part, which needs nothing but the flags.
func (c *clusterFlags) check(command string) error {
	switch {
	case c.file == "" && c.live.Kubeconfig == "":
		return fmt.Errorf("--cluster or --kubeconfig is missing; try simulator %s --help", command)
	case c.file != "" && c.live.Kubeconfig != "":
		return errors.New("--cluster and --kubeconfig: choose one of the two")
	}
	return c.live.Check()
}

// read reads the cluster, and writes what a person should know of it.
func (c *clusterFlags) read(cmd *cobra.Command) (*snapshot.Snapshot, error) {
	ctx, errOut := cmd.Context(), cmd.ErrOrStderr()
	if c.file == "" {
		cluster, err := readCluster(ctx, c.live, progressOf(cmd))
		if err != nil {
			return nil, fmt.Errorf("--kubeconfig %s: %w", c.live.Kubeconfig, err)
		}
		list(errOut, "note", cluster.Source.Notes)
		return cluster, nil
	}
	cluster, notices, err := readSnapshot(ctx, c.file, c.maxSize)
	for _, notice := range notices {
		fmt.Fprintln(warnings{errOut}, "notice:", notice)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx) // the file is not at fault
	case err != nil:
		return nil, fmt.Errorf("--cluster %s: %w", c.file, err)
	}
	return cluster, nil
}

// copyFlags are those of commands that try something in one copy, under one configuration.
type copyFlags struct {
	clusterFlags
	config string
	seed   uint64
	runs   int
}

func (c *copyFlags) add(flags *pflag.FlagSet) {
	c.clusterFlags.add(flags)
	flags.StringVar(&c.config, "config", "", "a KubeSchedulerConfiguration, or one of "+strings.Join(simulator.Variants, ", ")+
		" (default: that in the cluster's file, or else default)")
	flags.Uint64Var(&c.seed, "seed", 1, "by which is chosen what kube-scheduler leaves to chance; runs after the first count up from it")
	flags.IntVar(&c.runs, "runs", 1, "how often, with another seed each time, to see what chance does")
}

// read reads the cluster, and finds the configuration.
func (c *copyFlags) read(cmd *cobra.Command) (cluster *snapshot.Snapshot, scheduler compare.Scheduler, err error) {
	if cluster, err = c.clusterFlags.read(cmd); err != nil {
		return nil, scheduler, err
	}
	scheduler = compare.Scheduler{Label: "the configuration in the cluster's file", Config: cluster.SchedulerConfig}
	if c.config != "" || len(scheduler.Config) == 0 || string(scheduler.Config) == "null" {
		scheduler, err = readScheduler("--config", cmp.Or(c.config, "none"))
	}
	return cluster, scheduler, err
}

// whatIf is something that is tried in memory.
type whatIf struct {
	engine.Options
	scheduler compare.Scheduler
	done      func() error // to be called at the end
}

// whatIf reads what there is to read. Errors of the configuration come when it is tried.
func (c *copyFlags) whatIf(cmd *cobra.Command, plugins frameworkruntime.Registry) (*whatIf, error) {
	cluster, scheduler, err := c.read(cmd)
	if err != nil {
		return nil, err
	}
	w := &whatIf{scheduler: scheduler}
	if w.Options, w.done, err = simulator.WhatIf(scheduler.Config, plugins); err != nil {
		return nil, fmt.Errorf("%s: %w", w.label(), kubescheduler.WithLines(err))
	}
	w.Cluster, w.Seed = cluster, c.seed
	return w, nil
}

// label says where the configuration is from.
func (w *whatIf) label() string { return cmp.Or(w.scheduler.Label, w.scheduler.Name) }

// name is for a report.
func (w *whatIf) name() string { return cmp.Or(w.scheduler.Name, w.scheduler.Label) }

// labelled is an error of something that was tried, with where it is if the configuration is at fault.
func (w *whatIf) labelled(err error) error {
	if mistakes := (kubescheduler.Mistakes)(nil); errors.As(err, &mistakes) {
		return fmt.Errorf("%s: %w", w.label(), kubescheduler.WithLines(err))
	}
	return err
}
