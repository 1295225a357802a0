package side

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	program, dir string
	args         []string
}

// NewProcess writes what the program reads. Of the engine's options only Cluster and Seed count.
func NewProcess(program string, o Options) (*Process, error) {
	dir, err := os.MkdirTemp("", "side-")
	if err != nil {
		return nil, fmt.Errorf("directory for a side: %w", err)
	}
	p := &Process{program: program, dir: dir}
	if err := p.write(o); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close removes the files.
func (p *Process) Close() { _ = os.RemoveAll(p.dir) }

func (p *Process) file(name string) string { return filepath.Join(p.dir, name) }

func (p *Process) write(o Options) error {
	cluster, err := json.Marshal(o.Cluster)
	if err != nil {
		return err
	}
	scenario, err := json.Marshal(o.Scenario)
	if err != nil {
		return err
	}
	p.args = []string{
		CommandName, "--quiet", "--cluster", p.file("cluster.json"), "--max-size", "64Gi", "--config", p.file("config.yaml"), "--name", o.Name,
		"--pods", o.Pods, "--seed", fmt.Sprint(o.Seed), "--schedulers", strings.Join(o.Schedulers, ","), "--to", p.file("result.json.gz"),
	}
	if len(o.Scenario.Steps) > 0 {
		p.args = append(p.args, "--scenario", p.file("scenario.json"))
	}
	for name, text := range map[string][]byte{"cluster.json": cluster, "config.yaml": o.Text, "scenario.json": scenario} {
		if err := os.WriteFile(p.file(name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Run runs the program, and reads its result. When it returns, the process has ended.
func (p *Process) Run(ctx context.Context) (*Result, error) {
	var wrote bytes.Buffer
	cmd := exec.CommandContext(ctx, p.program, p.args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+p.dir)
	cmd.Stdout, cmd.Stderr = &wrote, &wrote
	wait, err := child.Start(cmd, stopTime)
	if err != nil {
		return nil, err
	}
	err = wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		const most = 4 << 10 // bytes: a panic says first what it is about
		return nil, fmt.Errorf("%s side: %w: %s", p.program, err, bytes.TrimSpace(wrote.Next(most)))
	}
	r, err := Read(p.file("result.json.gz"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf(`%s is no simulator that runs sides, as "simulator side" does`, p.program)
	}
	return r, err
}
