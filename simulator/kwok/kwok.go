// Package kwok runs KWOK's own program as a child of the simulator, in the place of
// the simulator's kubelets. It is no API.
package kwok

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/child"
	"wasmkwokwizardry.io/regex-scheduling/simulator/kubelets"
)

// stopTime is how long the program gets to end before it is killed.
const stopTime = 5 * time.Second

// Options are which program is run, and how.
type Options struct {
	// Path is that of the program. Empty: none is run.
	Path string
	// Configs are the files that its --config gets: its stages.
	Configs []string
}

// Check reports what would keep the program from being started.
func (o Options) Check() error {
	if o.Path == "" {
		if len(o.Configs) > 0 {
			return errors.New("--kwok-config is for the program of --kwok, and there is none")
		}
		return nil
	}
	if _, err := exec.LookPath(o.Path); err != nil {
		return fmt.Errorf("--kwok: %w", err)
	}
	for _, file := range o.Configs {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("--kwok-config: %w", err)
		}
	}
	return nil
}

// args let the program manage every node and not listen: it would serve logs
// and metrics on all addresses of the machine.
func (o Options) args(kubeconfig string) []string {
	args := []string{
		"--kubeconfig=" + kubeconfig, "--manage-all-nodes", "--server-address=", "--node-port=0",
		"--cidr=" + kubelets.PodCIDR, "--node-ip=" + kubelets.NodeIP, "--v=WARN",
	}
	for _, file := range o.Configs {
		args = append(args, "--config="+file)
	}
	return args
}

// Start runs the program until ctx is done; wait returns when it has ended. It ends
// with this process, too, on Linux even if that is killed. What it writes goes to
// logs. An end of its own calls ended.
func Start(ctx context.Context, o Options, kubeconfig string, logs io.Writer, ended func(error)) (wait func(), err error) {
	last := &lastLine{}
	cmd := exec.CommandContext(ctx, o.Path, o.args(kubeconfig)...)
	cmd.Stdout = io.MultiWriter(logs, last)
	cmd.Stderr = cmd.Stdout
	ends, err := child.Start(cmd, stopTime)
	if err != nil {
		return nil, fmt.Errorf("start kwok (%s): %w", o.Path, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = ends() // ProcessState has the result
		if ctx.Err() == nil {
			ended(fmt.Errorf("kwok (%s) has ended: %v: %s", o.Path, cmd.ProcessState, last))
		}
	}()
	return func() { <-done }, nil
}

// lastLine keeps the last line that was written.
type lastLine struct {
	mu   sync.Mutex
	line []byte
}

func (l *lastLine) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := bytes.TrimSpace(text); len(line) > 0 {
		l.line = bytes.Clone(line[bytes.LastIndexByte(line, '\n')+1:])
	}
	return len(text), nil
}

// String is the message of the line: those of the program are JSON.
func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var entry struct{ Msg, Err string }
	switch {
	case l.line == nil:
		return "it wrote nothing"
	case json.Unmarshal(l.line, &entry) != nil || entry.Msg == "":
		return string(l.line)
	case entry.Err == "":
		return entry.Msg
	}
	return entry.Msg + ": " + entry.Err
}
