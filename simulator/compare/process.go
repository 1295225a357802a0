package compare

import (
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
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/child"
)

// stopTime is how long the process of a side has to end before it is killed.
const stopTime = 4 * time.Second

// grace is how much longer than Options.Patience a process may say nothing: it gives up
// itself before.
const grace = 5 * time.Second

// isSide is set in the environment of a side, which starts no others: a program that
// lacks the command might go on without end.
const isSide = "SIMULATOR_IS_SIDE"

// files are what the sides are given, and all that they write and leave behind, in a
// directory.
type files string

func (f files) path(name string) string { return filepath.Join(string(f), name) }
func (f files) config(side int) string  { return f.path(letter(side) + ".yaml") }
func (f files) result(side int) string  { return f.path(letter(side) + ".json.gz") }

const (
	clusterFile  = "cluster.json"
	scenarioFile = "scenario.json"
)

func newFiles(o *Options) (files, error) {
	dir, err := os.MkdirTemp("", "sides-")
	for i, side := range o.sides() {
		if err == nil {
			err = os.WriteFile(files(dir).config(i), side.Config, 0o600)
		}
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("directory for the sides: %w", err), os.RemoveAll(dir))
	}
	return files(dir), nil
}

func (f files) write(name string, value any) error {
	file, err := os.Create(f.path(name))
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(file).Encode(value), file.Close())
}

// writeObjects writes what both sides get.
func (f files) writeObjects(o *Options) error {
	cluster := *o.Cluster
	cluster.Source, cluster.SchedulerConfig = nil, nil
	return errors.Join(f.write(clusterFile, cluster), f.write(scenarioFile, o.Scenario))
}

// runSide runs a side to its end, which writes its result.
func (o *Options) runSide(ctx context.Context, files files, run, side int) error {
	args := []string{
		"--cluster", files.path(clusterFile), "--output", files.result(side), "--name", o.sides()[side].Name, "--pods", o.Pods,
		"--schedulers", strings.Join(o.schedulers(), ","), "--seed", fmt.Sprint(o.Seed + uint64(run)), "--patience", o.Patience.String(),
	}
	if len(o.Scenario.Steps) > 0 {
		args = append(args, "--scenario", files.path(scenarioFile))
	}
	return o.runProgram(ctx, files, run, side, args...)
}

// message is a line of JSON on the standard output of a side, which says something all
// the time.
type message struct {
	Format  int    `json:"format"` // of its results
	Step    string `json:"step,omitempty"`
	Done    int    `json:"done,omitempty"`
	Of      int    `json:"of,omitempty"`
	Warning string `json:"warning,omitempty"`
	Error   string `json:"error,omitempty"` // why there is no result
}

// runProgram has the program of a side do what it is told to.
func (o *Options) runProgram(ctx context.Context, files files, run, side int, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program := cmp.Or(o.sides()[side].Program, self)
	logs, err := os.Create(files.path(letter(side) + ".log"))
	if err != nil {
		return err
	}
	defer logs.Close()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	cmd := exec.CommandContext(ctx, program, append([]string{SideName, "--messages", "--config", files.config(side)}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+string(files), isSide+"=1")
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, logs
	wait, err := child.Start(cmd, stopTime)
	if err != nil {
		return err
	}
	go func() { in.CloseWithError(cmp.Or(wait(), io.EOF)) }()
	last, err := o.listen(json.NewDecoder(out), end, run, side)
	_, _ = io.Copy(io.Discard, out) // until it has ended
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w%s", context.Cause(ctx), lastLines(logs.Name()))
	case last.Error != "":
		return errors.New(last.Error)
	case last.Format == 0:
		return fmt.Errorf("%s %w%s", program, errNoSide, lastLines(logs.Name()))
	case err != io.EOF:
		return fmt.Errorf("its process ended early: %v%s", cmd.ProcessState, lastLines(logs.Name()))
	}
	return nil
}

var errNoSide = errors.New(`is no simulator that runs sides, as "simulator side" does`)

// listen goes by what a side says, and ends it where that is not what a side says. It
// returns the last message, and the error that a process ended with, or io.EOF.
func (o *Options) listen(from *json.Decoder, end context.CancelCauseFunc, run, side int) (last message, err error) {
	patience := o.Patience + grace
	silence := time.AfterFunc(patience, func() { end(fmt.Errorf("its process hangs: it said nothing for %s", patience)) })
	defer silence.Stop()
	for {
		var m message
		err := from.Decode(&m)
		if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) || err == nil && m.Format == 0 {
			end(fmt.Errorf("its program %w", errNoSide))
		} else if err == nil && m.Format != Format {
			end(fmt.Errorf("its program writes results of format %d, and this one reads format %d: take two of one release", m.Format, Format))
		}
		if err != nil || m.Format != Format {
			return last, err
		}
		m.Error = cmp.Or(m.Error, last.Error) // after which it says for a moment that it goes on
		if last = m; m.Step != "" {
			o.say(run, side, m.Step, m.Done, m.Of)
		}
		if m.Warning != "" && o.Warnings != nil {
			fmt.Fprintln(o.Warnings, m.Warning)
		}
		silence.Reset(patience)
	}
}

var panics = regexp.MustCompile(`(?m)^(panic|fatal error): `)

// lastLines are those of a file, or the first of a panic in it. They are empty if nothing
// was written.
func lastLines(path string) string {
	const most = 10
	text, _ := os.ReadFile(path)
	if at := panics.FindIndex(text); at != nil {
		text = text[at[0]:]
	} else if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); len(lines) > most {
		text = []byte(strings.Join(lines[len(lines)-most:], "\n"))
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if lines[0] == "" {
		return ""
	}
	return "; the last it wrote: " + strings.Join(lines[:min(len(lines), most)], "\n")
}
