package side

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// CommandName is what the command is called that runs one side of a comparison.
const CommandName = "side"

// heartbeat is how often a side says that it goes on.
const heartbeat = time.Second

// gcPercent has two processes take no more memory than one with two clusters.
const gcPercent = 75

type command struct {
	Options
	cluster, config, scenario, output string
	maxSize                           resource.QuantityValue // of the file of cluster
}

// NewCommand makes the command that a comparison starts for each of its sides. Every
// program that compares needs it, with the plugins of its [Options].
func NewCommand(plugins frameworkruntime.Registry) *cobra.Command {
	c := &command{Options: Options{Plugins: plugins}}
	cmd := &cobra.Command{
		Use:   CommandName + " --cluster cluster.yaml --config scheduler.yaml -o result.json.gz",
		Short: "Schedule pods under one configuration, and write what came of it, for compare",
		Args:  cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if os.Getenv(isSide) != "" {
				return c.serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
			}
			c.Warnings = cmd.ErrOrStderr()
			say := NewPrinter(cmd.ErrOrStderr())
			c.Progress = func(step string, done, of int) { say(Progress{Step: step, Done: done, Of: of}) }
			if err := c.read(cmd.Context()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.cluster, "cluster", "", "file with the cluster: as exported, or from kubectl get")
	c.maxSize.Quantity = *resource.NewQuantity(snapshot.DefaultMaxSize, resource.BinarySI)
	flags.Var(&c.maxSize, "max-size", "most bytes that the file of --cluster may have, uncompressed")
	flags.StringVar(&c.config, "config", "", "a KubeSchedulerConfiguration, or one of "+strings.Join(simulator.Doors, ", "))
	flags.StringVar(&c.scenario, "scenario", "", "file with what happens then")
	flags.StringVarP(&c.output, "output", "o", "", "file to write, compressed if it ends in .gz")
	flags.StringVar(&c.Name, "name", "", "what the configuration is called in the result (default: the value of --config)")
	flags.StringSliceVar(&c.Schedulers, "schedulers", nil,
		"whose pods --pods all schedules anew; both sides need the same (default: those of the configuration)")
	AddFlags(flags, &c.Pods, &c.Seed, &c.Patience)
	return cmd
}

// AddFlags makes flags of how pods are scheduled.
func AddFlags(flags *pflag.FlagSet, pods *string, seed *uint64, patience *time.Duration) {
	flags.StringVar(pods, "pods", Pending,
		"which pods are scheduled: pending (those without a node), or all (every pod anew, in the order of creation)")
	flags.Uint64Var(seed, "seed", 1, "by which is chosen what kube-scheduler leaves to chance")
	flags.DurationVar(patience, "patience", DefaultPatience, "how long nothing new may happen before a side is given up")
}

// serve runs the side for a program that sends options and a cluster, and reads messages.
func (c *command) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	m := messenger{log.New(out, "", 0)}
	m.say(message{})
	go wait.UntilWithContext(ctx, func(context.Context) { m.say(message{}) }, heartbeat)
	c.Progress = func(step string, done, of int) { m.say(message{Step: step, Done: done, Of: of}) }
	c.Warnings = m
	err := c.obey(ctx, json.NewDecoder(in))
	if err != nil {
		m.say(message{Error: err.Error()})
	}
	return err
}

// obey looks at the configuration if there is no cluster.
func (c *command) obey(ctx context.Context, told *json.Decoder) error {
	if err := told.Decode(&c.Options); err != nil {
		return fmt.Errorf("be told what to do: %w", err)
	}
	if !told.More() {
		return WithLines(simulator.CheckSchedulerConfig(ctx, c.Config, c.Plugins))
	}
	if err := told.Decode(&c.Cluster); err != nil {
		return fmt.Errorf("be told of a cluster: %w", err)
	}
	return c.run(ctx)
}

func (c *command) run(ctx context.Context) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	result, err := Run(ctx, c.Options)
	if err != nil {
		return err
	}
	c.Cluster = nil
	debug.FreeOSMemory() // a cluster's worth, before the file takes some
	return result.Write(c.output)
}

// read reads what the flags name, and checks it, before anything is started.
func (c *command) read(ctx context.Context) error {
	for _, flag := range []struct{ name, value string }{{"--config", c.config}, {"--cluster", c.cluster}, {"--output", c.output}} {
		if flag.value == "" {
			return fmt.Errorf("%s is missing; try simulator side --help", flag.name)
		}
	}
	scheduler, err := ReadScheduler("--config", c.config)
	if err := cmp.Or(err, CheckMode(c.Pods)); err != nil {
		return err
	}
	c.Config, c.Name = scheduler.Config, cmp.Or(c.Name, c.config)
	if len(c.Schedulers) == 0 {
		c.Schedulers = sets.List(scheduler.Profiles())
	}
	c.Task = map[string]string{"--pods": c.Pods, "--seed": fmt.Sprint(c.Seed)}
	if c.Pods == All {
		c.Task["--schedulers"] = strings.Join(c.Schedulers, ",")
	}
	if c.Scenario, c.Task["--scenario"], err = ReadScenarioFile(c.scenario); err != nil {
		return err
	}
	if err := c.readCluster(ctx); err != nil {
		return err
	}
	return scheduler.Check(ctx, c.Plugins)
}

func (c *command) readCluster(ctx context.Context) error {
	file, err := os.Open(c.cluster)
	if err != nil {
		return fmt.Errorf("--cluster: %w", err)
	}
	defer file.Close()
	digest := sha256.New()
	cluster, notices, err := snapshot.ReadWithin(ctx, io.TeeReader(file, digest), c.maxSize.Value())
	if err == nil {
		_, err = io.Copy(digest, file) // what comes after
	}
	if err != nil {
		return fmt.Errorf("--cluster %s: %w", c.cluster, err)
	}
	for _, notice := range notices {
		fmt.Fprintln(c.Warnings, "notice:", notice)
	}
	c.Cluster, c.Task["--cluster"] = cluster, fmt.Sprintf("%x", digest.Sum(nil))
	return nil
}

// digestOf is the same for files with the same text.
func digestOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// ReadScenarioFile reads a scenario, and gives the digest of the file. Without a path
// there is none.
func ReadScenarioFile(path string) (s Scenario, digest string, err error) {
	if path == "" {
		return s, "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return s, "", fmt.Errorf("--scenario: %w", err)
	}
	scenario, err := ReadScenario(text)
	if err != nil {
		return s, "", fmt.Errorf("--scenario %s: %w", path, err)
	}
	return *scenario, digestOf(text), nil
}
