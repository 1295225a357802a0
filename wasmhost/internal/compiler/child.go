package compiler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/child"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/module"
)

// inChild says that this program calls [InChild] first, and so can be its own child.
var inChild bool

// childName is what a process of this program is called that compiles. It gets a folder and whether to meter as its
// arguments, and the module on its standard input.
const childName = "compile-wasm-guest"

// maxMemory bounds what a child may allocate, in bytes. A guest in Go with k8s.io/api takes 450 MiB,
// with maxWorkers.
const maxMemory = 768 << 20

// InChild has all modules of this process be compiled in child processes, which run this program
// again. There, InChild compiles, and does not return.
func InChild() {
	if os.Args[0] != childName {
		inChild = true
		return
	}
	if err := compileAsChild(os.Args[1], os.Args[2] == "true", os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.As(err, new(*fs.PathError)) {
			os.Exit(statusNotWritten)
		}
		os.Exit(statusRefused)
	}
	os.Exit(0)
}

// A child that could not compile, or could not write what it compiled, prints why and exits with one of these. Go
// exits with 2 where a program panics or finds no memory.
const (
	statusRefused    = 1
	statusNotWritten = 3
)

func compileAsChild(folder string, meter bool, stdin io.Reader) error {
	limit := memoryLimit()
	if err := limitMemory(limit); err != nil {
		return err
	}
	debug.SetMemoryLimit(int64(limit / 4 * 3)) // beyond it, garbage is collected more often
	wasm, err := io.ReadAll(stdin)
	if err != nil {
		return err
	}
	prepared, err := module.Prepare(wasm, meter)
	if err != nil {
		return err
	}
	// Only what was compiled within the limits is written: what cannot be written is compiled again without them.
	_, err = compile(context.Background(), prepared, folder)
	if err != nil {
		return err
	}
	rest, err := json.Marshal(prepared)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, preparedRest), rest, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, preparedWasm), prepared.Wasm, 0o600)
	}
	return err
}

// notPossible is the error of a child that did not begin, or could not write what it compiled.
type notPossible struct{ error }

// stopTime is how long a child may take to end after SIGTERM.
const stopTime = time.Second

func compileInChild(ctx context.Context, wasm []byte, meter bool) (*Module, error) {
	folder, err := os.MkdirTemp("", "compiling-*") // which only this user may read
	if err != nil {
		return nil, notPossible{err}
	}
	defer os.RemoveAll(folder) // compiled code is run: nothing of it stays
	program, err := program()
	if err != nil {
		return nil, notPossible{err}
	}
	said := &bytes.Buffer{}
	cmd := exec.CommandContext(ctx, program)
	cmd.Args = []string{childName, folder, strconv.FormatBool(meter)}
	cmd.Stdin = bytes.NewReader(wasm)
	cmd.Stderr = said
	wait, err := child.Start(cmd, stopTime)
	if err != nil && ctx.Err() == nil {
		return nil, notPossible{err}
	}
	if err == nil {
		err = wait()
	}
	switch {
	case err == nil:
		return load(folder)
	case ctx.Err() != nil:
		return nil, failed(context.Cause(ctx))
	case cmd.ProcessState.ExitCode() == statusRefused:
		return nil, errors.New(printable.Line(said.String(), maxSaid))
	case cmd.ProcessState.ExitCode() == statusNotWritten:
		return nil, notPossible{errors.New(printable.Line(said.String(), maxSaid))}
	}
	cause, _, _ := bytes.Cut(said.Bytes(), []byte("\n")) // of a panic, or for want of memory; then come stacks
	return nil, failed(fmt.Errorf("the process that compiles it, which may take %d MiB of memory, ended with %w: %s", memoryLimit()>>20, err, printable.Line(string(cause), maxSaid)))
}

// program is the file that this process runs. On Linux it is that very file, even if another
// one has taken its name since.
func program() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// maxSaid is how much of what a child prints is shown, in bytes.
const maxSaid = 512
