package compare

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/child"
)

// stopTime is how long the process of a side has to end before it is killed.
const stopTime = 4 * time.Second

// grace is how much longer than Options.Patience a process may say nothing: it gives up
// itself before.
const grace = 5 * time.Second

// isSide is set in the environment of a side, which starts no others: a program that
// does not have the command would begin anew, without end.
const isSide = "SIMULATOR_IS_SIDE"

// files are what the sides are given and what they write, in a directory in which all is
// that they leave behind.
type files struct{ dir string }

func newFiles(o *Options) (*files, error) {
	if os.Getenv(isSide) != "" {
		return nil, errors.New("the process of a side was asked to compare: its program has no command called " + SideName)
	}
	for _, side := range o.sides() {
		if _, err := exec.LookPath(side.Program); side.Program != "" && err != nil {
			return nil, fmt.Errorf("%s: the program to run it: %w", cmp.Or(side.Label, side.Name), err)
		}
	}
	dir, err := os.MkdirTemp("", "sides-")
	if err != nil {
		return nil, fmt.Errorf("directory for the results: %w", err)
	}
	f := &files{dir}
	for i, side := range o.sides() {
		if err := os.WriteFile(f.config(i), side.Config, 0o600); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	return f, nil
}

func (f *files) path(name string) string { return filepath.Join(f.dir, name) }
func (f *files) config(side int) string  { return f.path(letter(side) + ".yaml") }
func (f *files) result(side int) string  { return f.path(letter(side) + ".json.gz") }
func (f *files) remove()                 { _ = os.RemoveAll(f.dir) }

const (
	clusterFile  = "cluster.json"
	scenarioFile = "scenario.json"
)

// write writes what both sides get.
func (f *files) write(o *Options) error {
	cluster := *o.Cluster
	cluster.Source, cluster.SchedulerConfig = nil, nil
	return errors.Join(f.writeJSON(clusterFile, cluster), f.writeJSON(scenarioFile, o.Scenario))
}

func (f *files) writeJSON(name string, value any) error {
	file, err := os.Create(f.path(name))
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(file).Encode(value), file.Close())
}

// runSide runs a side to its end, which writes its result.
func (o *Options) runSide(ctx context.Context, files *files, run, side int) error {
	args := []string{
		"--cluster", files.path(clusterFile), "-o", files.result(side), "--name", o.sides()[side].Name, "--pods", o.Pods,
		"--schedulers", strings.Join(o.schedulers(), ","), "--seed", fmt.Sprint(o.Seed + uint64(run)), "--patience", o.Patience.String(),
	}
	if len(o.Scenario.Steps) > 0 {
		args = append(args, "--scenario", files.path(scenarioFile))
	}
	return o.runProgram(ctx, files, run, side, args...)
}

// message is a line of JSON on the standard output of a side. A side that says nothing
// for a while hangs.
type message struct {
	Format  int    `json:"format,omitempty"` // of its results; in the first message
	Step    string `json:"step,omitempty"`
	Done    int    `json:"done,omitempty"`
	Of      int    `json:"of,omitempty"`
	Warning string `json:"warning,omitempty"`
	Error   string `json:"error,omitempty"` // why there is no result
	Ended   bool   `json:"ended,omitempty"` // all is done
}

// runProgram has the program of a side do what it is told to.
func (o *Options) runProgram(ctx context.Context, files *files, run, side int, args ...string) error {
	program := o.sides()[side].Program
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		program = self
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	told := &told{end: end, patience: o.Patience + grace, each: func(m message) {
		switch {
		case m.Step != "":
			o.say(run, side, m.Step, m.Done, m.Of)
		case m.Warning != "" && o.Warnings != nil:
			fmt.Fprintln(o.Warnings, m.Warning)
		}
	}}
	told.silence = time.AfterFunc(told.patience, func() { end(fmt.Errorf("its process hangs: it said nothing for %s", told.patience)) })
	defer told.silence.Stop()
	cmd := exec.CommandContext(ctx, program, append([]string{SideName, "--messages", "--config", files.config(side)}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+files.dir, isSide+"=1")
	cmd.Stdout = told
	last := &lastLines{}
	cmd.Stderr = last
	wait, err := child.Start(cmd, stopTime)
	if err != nil {
		return err
	}
	err = wait()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w%s", context.Cause(ctx), last)
	case told.last.Error != "":
		return errors.New(told.last.Error)
	case !told.begun:
		return fmt.Errorf("%s %w%s", program, errNoSide, last)
	case err != nil || !told.last.Ended:
		return fmt.Errorf("its process ended early: %v%s", cmd.ProcessState, last)
	}
	return nil
}

var errNoSide = errors.New(`is no simulator that runs sides, of which "simulator side --help" tells`)

// told takes what a side says.
type told struct {
	each     func(message)
	end      context.CancelCauseFunc
	patience time.Duration // with silence
	silence  *time.Timer

	line  []byte // that has not ended
	begun bool
	last  message
}

// maxLine bounds a message: it has a step of a scenario, or an error.
const maxLine = 1 << 20

func (t *told) Write(text []byte) (int, error) {
	t.line = append(t.line, text...)
	for {
		line, rest, ok := bytes.Cut(t.line, []byte("\n"))
		if !ok {
			break
		}
		t.line = rest
		t.message(line)
	}
	if len(t.line) > maxLine {
		t.end(errNoSide)
		t.line = nil
	}
	return len(text), nil
}

func (t *told) message(line []byte) {
	var m message
	err := json.Unmarshal(line, &m)
	switch {
	case !t.begun && (err != nil || m.Format == 0):
		t.end(fmt.Errorf("its program %w", errNoSide))
	case !t.begun && m.Format != Format:
		t.end(fmt.Errorf("its program writes results of format %d, and this one reads format %d: take programs of one release", m.Format, Format))
	case err != nil:
		t.end(fmt.Errorf("its process says what is no message: %.100q", line))
	default:
		t.begun, t.last = true, m
		t.each(m)
		t.silence.Reset(t.patience)
	}
}

// lastLines keeps the end of what was written, or the first lines of a panic.
type lastLines struct {
	mu   sync.Mutex
	text []byte
}

const (
	keptBytes = 4 << 10
	keptLines = 10
)

var panics = regexp.MustCompile(`(?m)^(panic|fatal error): `)

func (l *lastLines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, text...)
	if at := panics.FindIndex(l.text); at != nil {
		l.text = slices.Clone(l.text[at[0]:min(len(l.text), at[0]+keptBytes)])
	} else if more := len(l.text) - keptBytes; more > 0 {
		l.text = slices.Clone(l.text[more:])
	}
	return len(text), nil
}

// String is empty if nothing was written.
func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(l.text)), "\n")
	first := max(0, len(lines)-keptLines)
	switch {
	case lines[0] == "":
		return ""
	case panics.Match(l.text):
		first = 0
	}
	return "; the last it wrote: " + strings.Join(lines[first:min(len(lines), first+keptLines)], "\n")
}
