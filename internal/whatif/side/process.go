package side

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/child"
)

// CommandName is what the command is called that runs one side of a comparison.
const CommandName = "side"

// stopTime is how long the process of a side has to end before it is killed.
const stopTime = 4 * time.Second

// Process is another program's side, say that of another minor of Kubernetes. It is a
// simulator's command side, with files in a folder of its own.
type Process struct {
	Program string
	Dir     string // of its own
	Options        // its Cluster is only read. Of those of the engine, nothing else counts but Seed
}

// Run runs the program, and reads its result. When it returns, the process has ended.
func (p Process) Run(ctx context.Context) (*Result, error) {
	args, err := p.files()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.Program, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+p.Dir)
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	wait, err := child.Start(cmd, stopTime)
	if err != nil {
		return nil, err
	}
	go func() { in.CloseWithError(cmp.Or(wait(), io.EOF)) }()
	lines, err := p.listen(out)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, p.failed(err, lines)
	}
	r, err := Read(p.file("result.json.gz"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf(`%s is no simulator that runs sides, as "simulator side" does`, p.Program)
	}
	return r, err
}

// failed is why there is no result: what a simulator says, or else how it ended, with the
// last that it wrote.
func (p Process) failed(err error, lines []string) error {
	if len(lines) == 0 {
		return fmt.Errorf("%s side: %w", p.Program, err)
	}
	if said, ok := strings.CutPrefix(lines[len(lines)-1], "simulator: "); ok {
		if wrong, ok := strings.CutPrefix(said, "--config "+p.file("config.yaml")+": "); ok {
			return errors.New(wrong)
		}
		return fmt.Errorf("%s side: %s", p.Program, said)
	}
	return fmt.Errorf("%s side: %w; the last it wrote: %s", p.Program, err, strings.Join(lines, "\n"))
}

func (p Process) file(name string) string { return filepath.Join(p.Dir, name) }

// files writes what the program reads, and gives its arguments.
func (p Process) files() (args []string, err error) {
	scenario, err := json.Marshal(p.Scenario)
	if err != nil {
		return nil, err
	}
	cluster, err := json.Marshal(p.Cluster)
	if err != nil {
		return nil, err
	}
	args = []string{
		CommandName, "--cluster", p.file("cluster.json"), "--max-size", "64Gi", "--config", p.file("config.yaml"), "--name", p.Name,
		"--pods", p.Pods, "--seed", fmt.Sprint(p.Seed), "--schedulers", strings.Join(p.Schedulers, ","), "--to", p.file("result.json.gz"),
	}
	texts := map[string][]byte{"cluster.json": cluster, "config.yaml": p.Text}
	if len(p.Scenario.Steps) > 0 {
		texts["scenario.json"] = scenario
		args = append(args, "--scenario", p.file("scenario.json"))
	}
	for name, text := range texts {
		if err := os.WriteFile(p.file(name), text, 0o600); err != nil {
			return nil, err
		}
	}
	return args, nil
}

var (
	aStep  = regexp.MustCompile(`^ *[\d.]+s  (.+)$`)
	aPanic = regexp.MustCompile(`^(panic|fatal error): `)
)

// listen goes by what the command writes for a person, until it ends: steps, and other
// lines, of which it returns the last, or the first of a panic.
func (p Process) listen(from io.Reader) (lines []string, err error) {
	const most = 10
	scanner := bufio.NewScanner(from)
	for scanner.Scan() {
		line := scanner.Text()
		panics := len(lines) > 0 && aPanic.MatchString(lines[0])
		switch step := aStep.FindStringSubmatch(line); {
		case step != nil:
			p.Progress(step[1], 0, 0)
		case aPanic.MatchString(line) && !panics:
			lines = []string{line}
		case len(lines) < most:
			lines = append(lines, line)
		case !panics:
			lines = append(slices.Delete(lines, 0, 1), line)
		}
	}
	_, _ = io.Copy(io.Discard, from)
	return lines, scanner.Err()
}
