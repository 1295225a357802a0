package side

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/child"
)

// stopTime is how long the process of a side has to end before it is killed.
const stopTime = 4 * time.Second

// grace is how much longer than [Options].Patience a process may say nothing: it gives up
// itself before.
const grace = 5 * time.Second

// isSide is set in the environment of a side that is told on standard input what to do, and
// says in messages how far it is. It starts no others: a program that lacks the command might
// go on without end.
const isSide = "SIMULATOR_IS_SIDE"

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

// Process is a process that runs a side.
type Process struct {
	Program string // a simulator. Empty: the program that this process runs
	Dir     string // holds all that it writes and leaves behind
	Result  string // the file to write, in Dir
}

// Run has the process do what it is told on standard input: first options, and then the
// cluster, as JSON. Without one it looks at the configuration only. When it returns, the
// process has ended.
func (p Process) Run(ctx context.Context, o Options, cluster []byte) error {
	if os.Getenv(isSide) != "" {
		return errors.New("the process of a side was asked to start one: its program lacks the command " + CommandName)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	task, err := json.Marshal(o)
	if err != nil {
		return err
	}
	logs, err := os.Create(p.Result + ".log")
	if err != nil {
		return err
	}
	defer logs.Close()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	program := cmp.Or(p.Program, self)
	cmd := exec.CommandContext(ctx, program, CommandName, "--output", p.Result)
	cmd.Env = append(os.Environ(), "TMPDIR="+p.Dir, isSide+"=1")
	out, in := io.Pipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.MultiReader(bytes.NewReader(task), bytes.NewReader(cluster)), in, logs
	wait, err := child.Start(cmd, stopTime)
	if err != nil {
		return err
	}
	go func() { in.CloseWithError(cmp.Or(wait(), io.EOF)) }()
	last, err := o.listen(json.NewDecoder(out), end)
	_, _ = io.Copy(io.Discard, out) // until it has ended
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w%s", context.Cause(ctx), lastLines(logs.Name()))
	case last.Error != "":
		return errors.New(last.Error)
	case last.Format == 0:
		complaint, _, _ := strings.Cut(lastLines(logs.Name()), "\n") // others write how they are used behind it
		return fmt.Errorf("%s %w%s", program, errNoSide, complaint)
	case err != io.EOF:
		return fmt.Errorf("its process ended early: %v%s", cmd.ProcessState, lastLines(logs.Name()))
	}
	return nil
}

var errNoSide = errors.New(`is no simulator that runs sides, as "simulator side" does`)

// listen goes by what a side says, and ends it where that is not what a side says. It
// returns the last message, and the error that a process ended with, or io.EOF.
func (o *Options) listen(from *json.Decoder, end context.CancelCauseFunc) (last message, err error) {
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
			o.Progress(m.Step, m.Done, m.Of)
		}
		if m.Warning != "" && o.Warnings != nil {
			fmt.Fprintln(o.Warnings, m.Warning)
		}
		silence.Reset(patience)
	}
}

var panics = regexp.MustCompile(`^(panic|fatal error): `)

// lastLines are those of a file, or the first of a panic in it. They are empty if nothing
// was written.
func lastLines(path string) string {
	const most = 10
	text, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	from := slices.IndexFunc(lines, panics.MatchString)
	if from < 0 {
		from = max(0, len(lines)-most)
	}
	if lines[0] == "" {
		return ""
	}
	return "; the last it wrote: " + strings.Join(lines[from:min(len(lines), from+most)], "\n")
}
