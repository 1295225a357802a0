package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// oneSide is the command that runs one side of a comparison, and writes a file.
type oneSide struct {
	side.Options
	trial                    // of which only the cluster's file, the configuration and the seed are flags
	scenario, output, called string
}

func newSide(plugins frameworkruntime.Registry) *cobra.Command {
	c := &oneSide{trial: trial{plugins: plugins}}
	cmd := whatIfCommand(&cobra.Command{
		Use:   side.CommandName + " --cluster FILE --config FILE --to FILE",
		Short: "Schedule pods under one configuration, for compare",
		Long: `Schedule the pods of a cluster's copy under one configuration, and save the result. "simulator compare"
compares two such files, also of simulators of different minors of Kubernetes.`,
		Example: `  # Run one side each, and compare them
  simulator side --cluster cluster.yaml --config before.yaml --to a.json
  simulator-1.37 side --cluster cluster.yaml --config before.yaml --to b.json
  simulator compare a.json b.json`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error { return c.run(cmd) })
	flags := cmd.Flags()
	c.addFile(flags)
	flags.StringVar(&c.config, "config", "", configHelp)
	flags.StringVar(&c.scenario, "scenario", "", scenarioHelp)
	flags.StringVar(&c.output, "to", "", "file to write, compressed if its name ends in .gz")
	flags.StringVar(&c.called, "name", "", "name of the configuration in the result (default: the value of --config)")
	flags.StringSliceVar(&c.Schedulers, "schedulers", nil,
		"scheduler names whose pods --pods all schedules; both sides need the same (default: those of the configuration)")
	sideFlags(flags, &c.Pods, &c.seed)
	return cmd
}

// sideFlags say how pods are scheduled.
func sideFlags(flags *pflag.FlagSet, pods *string, seed *uint64) {
	*pods = side.Pending
	flags.Var(cli.OneOf(pods, side.Modes...), "pods",
		"which pods are scheduled: pending (those without a node), or all (rescheduled from scratch, in the order of creation)")
	seedFlag(flags, seed)
}

func (c *oneSide) run(cmd *cobra.Command) (err error) {
	for _, flag := range []struct{ name, value string }{{"--config", c.config}, {"--cluster", c.file}, {"--to", c.output}} {
		if flag.value == "" {
			return fmt.Errorf("%s is missing; try simulator side --help", flag.name)
		}
	}
	one, err := readScheduler(cmd.Context(), "--config", c.config)
	if err != nil {
		return err
	}
	if len(c.Schedulers) == 0 {
		c.Schedulers = side.Profiles(one.Config)
	}
	c.Task = map[string]string{"--pods": c.Pods, "--seed": fmt.Sprint(c.seed)}
	if c.Pods == side.All {
		c.Task["--schedulers"] = strings.Join(c.Schedulers, ",")
	}
	c.Scenario, c.Task["--scenario"], err = readScenario(cmd.Context(), c.scenario)
	if err != nil {
		return err
	}
	c.addsNodes = c.Scenario.AddsNodes()
	defer c.notice(cmd)
	var result *side.Result
	_, err = c.result(cmd, func(with tried) (none found, err error) {
		c.Options.Options = with.Options
		c.Text = one.Config
		c.Name = cmp.Or(c.called, c.config)
		c.Progress = with.progress
		c.Task["--cluster"] = c.digest
		s, err := side.New(cmd.Context(), c.Options)
		if err != nil {
			return none, err
		}
		defer s.Close()
		result, err = s.Run(cmd.Context())
		return none, err
	})
	if err != nil {
		return err
	}
	return result.Write(c.output)
}
