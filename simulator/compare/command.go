package compare

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// SideName is what the command is called that runs one side of a comparison.
const SideName = "side"

// heartbeat is how often a side says that it goes on.
const heartbeat = time.Second

// gcPercent has two processes take no more memory than one with two clusters.
const gcPercent = 75

type sideCommand struct {
	SideOptions
	cluster, config, scenario, output string
}

// NewSideCommand makes the command that a comparison starts for each of its sides. Every
// program that compares needs it, with the plugins of its [Options].
func NewSideCommand(plugins frameworkruntime.Registry) *cobra.Command {
	c := &sideCommand{SideOptions: SideOptions{Plugins: plugins}}
	cmd := &cobra.Command{
		Use:   SideName + " --cluster cluster.yaml --config scheduler.yaml -o result.json.gz",
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
	flags.StringVar(&c.config, "config", "", "a KubeSchedulerConfiguration, or one of "+strings.Join(simulator.Doors, ", "))
	flags.StringVar(&c.scenario, "scenario", "", "file with what happens then")
	flags.StringVarP(&c.output, "output", "o", "", "file to write, compressed if it ends in .gz")
	flags.StringVar(&c.Name, "name", "", "what the configuration is called in the result (default: the value of --config)")
	flags.StringSliceVar(&c.Schedulers, "schedulers", nil,
		"whose pods --pods all schedules anew; both sides need the same (default: those of the configuration)")
	addFlags(flags, &c.Pods, &c.Seed, &c.Patience)
	return cmd
}

// serve runs the side for a program that sends options and a cluster, and reads messages.
func (c *sideCommand) serve(ctx context.Context, in io.Reader, out io.Writer) error {
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
func (c *sideCommand) obey(ctx context.Context, told *json.Decoder) error {
	if err := told.Decode(&c.SideOptions); err != nil {
		return fmt.Errorf("be told what to do: %w", err)
	}
	if !told.More() {
		return withLines(simulator.CheckSchedulerConfig(ctx, c.Config, c.Plugins))
	}
	if err := told.Decode(&c.Cluster); err != nil {
		return fmt.Errorf("be told of a cluster: %w", err)
	}
	return c.run(ctx)
}

func (c *sideCommand) run(ctx context.Context) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	result, err := RunSide(ctx, c.SideOptions)
	if err != nil {
		return err
	}
	c.Cluster = nil
	debug.FreeOSMemory() // a cluster's worth, before the file takes some
	return result.Write(c.output)
}

// read reads what the flags name, and checks it, before anything is started.
func (c *sideCommand) read(ctx context.Context) error {
	for _, flag := range []struct{ name, value string }{{"--config", c.config}, {"--cluster", c.cluster}, {"--output", c.output}} {
		if flag.value == "" {
			return fmt.Errorf("%s is missing; try simulator side --help", flag.name)
		}
	}
	side, err := ReadSide("--config", c.config)
	if err := cmp.Or(err, checkMode(c.Pods)); err != nil {
		return err
	}
	c.Config, c.Name = side.Config, cmp.Or(c.Name, c.config)
	if len(c.Schedulers) == 0 {
		c.Schedulers = sets.List(schedulerNames(c.Config))
	}
	c.Task = map[string]string{"--pods": c.Pods, "--seed": fmt.Sprint(c.Seed)}
	if c.Pods == All {
		c.Task["--schedulers"] = strings.Join(c.Schedulers, ",")
	}
	if c.Scenario, c.Task["--scenario"], err = ReadScenarioFile(c.scenario); err != nil {
		return err
	}
	if err := c.readCluster(); err != nil {
		return err
	}
	return side.Check(ctx, c.Plugins)
}

func (c *sideCommand) readCluster() error {
	text, err := os.ReadFile(c.cluster)
	if err != nil {
		return fmt.Errorf("--cluster: %w", err)
	}
	cluster, notices, err := snapshot.Read(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("--cluster %s: %w", c.cluster, err)
	}
	for _, notice := range notices {
		fmt.Fprintln(c.Warnings, "notice:", notice)
	}
	c.Cluster, c.Task["--cluster"] = cluster, digestOf(text)
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

// ReadSide takes a door's name, or else a file, which a flag names.
func ReadSide(flag, value string) (Side, error) {
	side := Side{Name: value, Label: flag + " " + value}
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

// messenger sends messages, from any goroutine. What is written to it is a warning.
type messenger struct{ lines *log.Logger }

func (m messenger) say(one message) {
	one.Format = Format
	text, _ := json.Marshal(one) // which has no more than text and numbers
	m.lines.Print(string(text))
}

func (m messenger) Write(line []byte) (int, error) {
	m.say(message{Warning: strings.TrimSuffix(string(line), "\n")})
	return len(line), nil
}

// often is how long a step goes on before it is shown again.
const often = 3 * time.Second

// NewPrinter shows how far it is, in lines for a person.
func NewPrinter(to io.Writer) func(Progress) {
	var mu sync.Mutex
	began, last, shown := time.Now(), map[string]Progress{}, map[string]time.Time{} // by side
	return func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if l := last[p.Side]; l.Run == p.Run && l.Step == p.Step && time.Since(shown[p.Side]) < often {
			return
		}
		last[p.Side], shown[p.Side] = p, time.Now()
		fmt.Fprintf(to, "%6.1fs  %v\n", time.Since(began).Seconds(), p)
	}
}
