package compare

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	check, messages                   bool
}

// NewSideCommand makes the command that a comparison starts for each of its sides. Every
// program that compares needs it, with the plugins of its [Options].
func NewSideCommand(plugins frameworkruntime.Registry) *cobra.Command {
	c := &sideCommand{SideOptions: SideOptions{Plugins: plugins}}
	cmd := &cobra.Command{
		Use:   SideName + " --cluster cluster.yaml --config scheduler.yaml -o result.json.gz",
		Short: "Schedule pods under one configuration, and write what came of it, for compare",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.messages {
				return c.tell(cmd.Context(), cmd.OutOrStdout())
			}
			c.Warnings = cmd.ErrOrStderr()
			say := NewPrinter(cmd.ErrOrStderr())
			c.Progress = func(step string, done, of int) { say(Progress{Step: step, Done: done, Of: of}) }
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
	flags.BoolVar(&c.check, "check", false, "look at the configuration only")
	flags.BoolVar(&c.messages, "messages", false, "say in JSON on standard output how far it is")
	_ = errors.Join(flags.MarkHidden("check"), flags.MarkHidden("messages")) // which are there
	return cmd
}

// tell runs the side for a program that reads messages.
func (c *sideCommand) tell(ctx context.Context, out io.Writer) error {
	m := &messenger{to: json.NewEncoder(out)}
	m.say(message{})
	go wait.UntilWithContext(ctx, func(context.Context) { m.say(message{}) }, heartbeat)
	c.Progress = func(step string, done, of int) { m.say(message{Step: step, Done: done, Of: of}) }
	c.Warnings = m
	err := c.run(ctx)
	if err != nil {
		m.say(message{Error: err.Error()})
	}
	return err
}

func (c *sideCommand) run(ctx context.Context) error {
	for _, flag := range []struct{ name, value string }{{"--config", c.config}, {"--cluster", c.cluster}, {"--output", c.output}} {
		if flag.value == "" && !c.check {
			return fmt.Errorf("%s is missing; try simulator side --help", flag.name)
		}
	}
	side, err := ReadSide("--config", c.config)
	if err != nil {
		return err
	}
	c.Config, c.Name = side.Config, cmp.Or(c.Name, c.config)
	if c.check {
		return withLines(simulator.CheckSchedulerConfig(ctx, c.Config, c.Plugins))
	}
	if err := c.read(); err != nil {
		return err
	}
	if !c.messages { // who starts a side has checked both
		if err := side.Check(ctx, c.Plugins); err != nil {
			return err
		}
	}
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

// read reads the files, before anything is started.
func (c *sideCommand) read() error {
	if err := checkMode(c.Pods); err != nil {
		return err
	}
	if len(c.Schedulers) == 0 {
		c.Schedulers = sets.List(schedulerNames(c.Config))
	}
	digest, scenario := sha256.New(), ""
	var err error
	if c.Scenario, scenario, err = ReadScenarioFile(c.scenario); err != nil {
		return err
	}
	file, err := os.Open(c.cluster)
	if err != nil {
		return fmt.Errorf("--cluster: %w", err)
	}
	defer file.Close()
	var notices []snapshot.Notice
	if c.Cluster, notices, err = snapshot.Read(io.TeeReader(file, digest)); err != nil {
		return fmt.Errorf("--cluster %s: %w", c.cluster, err)
	}
	for _, notice := range notices {
		if !c.messages { // who starts a side has told them
			fmt.Fprintln(c.Warnings, "notice:", notice)
		}
	}
	c.Task = map[string]string{"--cluster": fmt.Sprintf("%x", digest.Sum(nil)), "--scenario": scenario, "--pods": c.Pods, "--seed": fmt.Sprint(c.Seed)}
	if c.Pods == All {
		c.Task["--schedulers"] = strings.Join(c.Schedulers, ",")
	}
	return nil
}

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
	return *scenario, fmt.Sprintf("%x", sha256.Sum256(text)), nil
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

// messenger sends messages, from any goroutine.
type messenger struct {
	mu sync.Mutex
	to *json.Encoder
}

func (m *messenger) say(one message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one.Format = Format
	_ = m.to.Encode(one) // nobody reads it any more
}

func (m *messenger) Write(line []byte) (int, error) {
	m.say(message{Warning: strings.TrimSuffix(string(line), "\n")})
	return len(line), nil
}

// often is how long a step goes on before it is shown again.
const often = 3 * time.Second

type printer struct {
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

// NewPrinter shows how far it is, in lines for a person.
func NewPrinter(to io.Writer) func(Progress) {
	return (&printer{to: to, began: time.Now(), last: map[string]shown{}}).say
}

func (s *printer) say(p Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.last[p.Side]; last.run == p.Run && last.step == p.Step && time.Since(last.at) < often {
		return
	}
	s.last[p.Side] = shown{p.Run, p.Step, time.Now()}
	fmt.Fprintf(s.to, "%6.1fs  %v\n", time.Since(s.began).Seconds(), p)
}
