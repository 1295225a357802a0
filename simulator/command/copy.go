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
}

func (c *copyFlags) add(flags *pflag.FlagSet) {
	c.clusterFlags.add(flags)
	flags.StringVar(&c.config, "config", "", "a KubeSchedulerConfiguration, or one of "+strings.Join(simulator.Doors, ", ")+
		" (default: that in the cluster's file, or else default)")
}

// read reads the cluster, and finds the configuration.
func (c *copyFlags) read(cmd *cobra.Command) (cluster *snapshot.Snapshot, scheduler compare.Scheduler, err error) {
	if cluster, err = c.clusterFlags.read(cmd); err != nil {
		return nil, scheduler, err
	}
	scheduler = compare.Scheduler{Label: "the configuration in the cluster's file", Config: cluster.SchedulerConfig}
	if c.config != "" || len(scheduler.Config) == 0 || string(scheduler.Config) == "null" {
		scheduler, err = readScheduler("--config", cmp.Or(c.config, "default"))
	}
	return cluster, scheduler, err
}

// whatIf reads both for something that is tried in memory. Errors of the configuration
// come when it is tried, and labelled makes of them what to say. Call done at the end.
func (c *copyFlags) whatIf(cmd *cobra.Command, plugins frameworkruntime.Registry) (o engine.Options, labelled func(error) error, done func() error, err error) {
	cluster, scheduler, err := c.read(cmd)
	if err != nil {
		return o, nil, nil, err
	}
	labelled = func(err error) error {
		if mistakes := (kubescheduler.Mistakes)(nil); errors.As(err, &mistakes) {
			return fmt.Errorf("%s: %w", cmp.Or(scheduler.Label, scheduler.Name), kubescheduler.WithLines(err))
		}
		return err
	}
	if o, done, err = simulator.WhatIf(scheduler.Config, plugins); err != nil {
		return o, nil, nil, fmt.Errorf("%s: %w", cmp.Or(scheduler.Label, scheduler.Name), kubescheduler.WithLines(err))
	}
	o.Cluster = cluster
	return o, labelled, done, nil
}
