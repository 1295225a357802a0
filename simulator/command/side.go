package command

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/whatif/side"
)

// oneSide is the command that runs one side of a comparison, and writes a file.
type oneSide struct {
	side.Options
	plugins                           frameworkruntime.Registry
	cluster, config, scenario, output string
	maxSize                           maxSize // of the file of cluster
}

func newSide(plugins frameworkruntime.Registry) *cobra.Command {
	c := &oneSide{plugins: plugins}
	cmd := newCommand(side.CommandName+" --cluster cluster.yaml --config scheduler.yaml --to result.json.gz",
		"Schedule pods under one configuration, and write what came of it, for compare",
		func(ctx context.Context, cmd *cobra.Command) error { return c.run(ctx, cmd) })
	flags := cmd.Flags()
	flags.StringVar(&c.cluster, "cluster", "", "file with the cluster: as exported, or from kubectl get")
	c.maxSize.add(flags)
	flags.StringVar(&c.config, "config", "", "a KubeSchedulerConfiguration, or one of "+strings.Join(simulator.Variants, ", "))
	flags.StringVar(&c.scenario, "scenario", "", "file with what happens then")
	flags.StringVar(&c.output, "to", "", "file to write, compressed if it ends in .gz")
	flags.StringVar(&c.Name, "name", "", "what the configuration is called in the result (default: the value of --config)")
	flags.StringSliceVar(&c.Schedulers, "schedulers", nil,
		"whose pods --pods all schedules anew; both sides need the same (default: those of the configuration)")
	sideFlags(flags, &c.Options.Pods, &c.Seed)
	quietFlag(flags)
	return cmd
}

// sideFlags are those of how pods are scheduled.
func sideFlags(flags *pflag.FlagSet, pods *string, seed *uint64) {
	*pods = side.Pending
	flags.Var(cli.OneOf(pods, side.Modes...), "pods",
		"which pods are scheduled: pending (those without a node), or all (every pod anew, in the order of creation)")
	flags.Uint64Var(seed, "seed", 1, "by which is chosen what kube-scheduler leaves to chance")
}

func (c *oneSide) run(ctx context.Context, cmd *cobra.Command) error {
	for _, flag := range []struct{ name, value string }{{"--config", c.config}, {"--cluster", c.cluster}, {"--to", c.output}} {
		if flag.value == "" {
			return fmt.Errorf("%s is missing; try simulator side --help", flag.name)
		}
	}
	one, err := readScheduler("--config", c.config)
	if err != nil {
		return err
	}
	progress := progressOf(cmd)
	c.Text, c.Name, c.Progress = one.Config, cmp.Or(c.Name, c.config), progress.tells
	if len(c.Schedulers) == 0 {
		c.Schedulers = side.Profiles(one.Config)
	}
	seed := c.Seed
	c.Task = map[string]string{"--pods": c.Pods, "--seed": fmt.Sprint(seed)}
	if c.Pods == side.All {
		c.Task["--schedulers"] = strings.Join(c.Schedulers, ",")
	}
	if c.Scenario, c.Task["--scenario"], err = readScenario(c.scenario); err != nil {
		return err
	}
	cluster, err := c.readCluster(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	var done func() error
	if c.Options.Options, done, err = simulator.WhatIf(one.Config, c.plugins); err != nil {
		return fmt.Errorf("%s: %w", one.Label, scheduler.WithLines(err))
	}
	defer func() { err = cmp.Or(err, done()) }()
	c.Options.Options.Cluster, c.Seed = cluster, seed
	s, err := side.New(ctx, c.Options)
	if err != nil {
		return fmt.Errorf("%s: %w", one.Label, scheduler.WithLines(err))
	}
	defer s.Close()
	result, err := s.Run(ctx)
	progress.end()
	if err != nil {
		return err
	}
	return result.Write(c.output)
}

// readCluster takes the digest of the file, too.
func (c *oneSide) readCluster(ctx context.Context, errOut io.Writer) (*snapshot.Snapshot, error) {
	file, err := openFile(ctx, c.cluster)
	if err != nil {
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	defer file.Close()
	digest := sha256.New()
	cluster, notices, err := snapshot.ReadWithin(ctx, io.TeeReader(file, digest), c.maxSize.Value())
	if err == nil {
		_, err = io.Copy(digest, file) // what comes after
	}
	if err != nil {
		return nil, fmt.Errorf("--cluster %s: %w", c.cluster, err)
	}
	for _, notice := range notices {
		fmt.Fprintln(warnings{errOut}, "notice:", notice)
	}
	c.Task["--cluster"] = fmt.Sprintf("%x", digest.Sum(nil))
	return cluster, nil
}
