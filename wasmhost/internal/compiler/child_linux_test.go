package compiler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// peak is how much memory this process has had at once, in MiB.
func peak(t *testing.T) int {
	t.Helper()
	status := testkit.ReadFile(t, "/proc/self/status")
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	testkit.Must(t, err)
	return kib >> 10
}

// children are the processes that compile for this one.
func children(t *testing.T) (pids []int) {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	testkit.Must(t, err)
	for _, command := range commands {
		line, _ := os.ReadFile(command)
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(command), "status"))
		if strings.HasPrefix(string(line), childName+"\x00") && strings.Contains(string(status), "\nPPid:\t"+strconv.Itoa(os.Getpid())+"\n") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(command)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// oneChild waits for a child.
func oneChild(t *testing.T) (pid int) {
	t.Helper()
	testkit.Eventually(t, "a child compiles", func(context.Context) error {
		pids := children(t)
		if len(pids) != 1 {
			return fmt.Errorf("children %v", pids)
		}
		pid = pids[0]
		return nil
	})
	return pid
}

func TestChildDiesOfABombAlone(t *testing.T) {
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			testkit.EmptyTemp(t)
			wasm := bomb()
			testkit.Must(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // the peak begins here
			before := peak(t)
			began := time.Now()
			_, err := Compile(t.Context(), wasm, false)
			t.Logf("%d bytes, %s, %d MiB and %d more: %v", len(wasm), time.Since(began).Round(time.Millisecond), before, peak(t)-before, err)
			const want = "wasm: error compiling guest: the process that compiles it, which may take 768 MiB of memory, ended with exit status 2: "
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "memory") || len(err.Error()) > len(want)+maxSaid || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
			more := peak(t) - before
			if more > 16 {
				t.Errorf("this process took %d MiB", more)
			}
			testkit.Equal(t, children(t), nil, "left behind")
		})
	}
}

func TestCompileEndsWithItsChildOrItsContext(t *testing.T) {
	why := errors.New("the scheduler stops")
	for want, end := range map[string]func(cancel context.CancelCauseFunc, child int) error{
		"ended with signal: killed": func(_ context.CancelCauseFunc, child int) error { return syscall.Kill(child, syscall.SIGKILL) },
		why.Error():                 func(cancel context.CancelCauseFunc, _ int) error { cancel(why); return nil },
	} {
		t.Run(want, func(t *testing.T) {
			testkit.EmptyTemp(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := Compile(ctx, bombs["2,000 globals and 20,000 calls"](), false) // which takes a while
				ended <- err
			}()
			testkit.Must(t, end(cancel, oneChild(t)))
			err := testkit.EventuallyReceives(t, "compiling ends", ended)
			testkit.ErrorHas(t, err, want)
			testkit.Equal(t, children(t), nil, "left behind")
		})
	}
}

// TestCompileWhereNothingCanBeWritten has each file end after 100 bytes, as a full file system does.
func TestCompileWhereNothingCanBeWritten(t *testing.T) {
	if !hasLimit(t, syscall.RLIMIT_FSIZE, 100) {
		return
	}
	testkit.EmptyTemp(t)
	lines := compileSmall(t)
	if len(lines) != 1 || !strings.Contains(lines[0], "Guests are compiled in this process, without a limit of memory") || !strings.Contains(lines[0], "file too large") {
		t.Errorf("logged %q", lines)
	}
}

// A guest that fills the file system is not compiled without the limits for it: only what a child could compile is.
func TestBombIsCompiledInNoOtherProcessWhereNothingCanBeWritten(t *testing.T) {
	if !hasLimit(t, syscall.RLIMIT_FSIZE, 100) {
		return
	}
	testkit.EmptyTemp(t)
	_, err := Compile(t.Context(), bombs["2,000 globals and 20,000 calls"](), false)
	testkit.ErrorHas(t, err, "the process that compiles it, which may take 768 MiB of memory, ended with")
}

// A child keeps a hard limit that is lower than its own.
func TestChildKeepsALowerLimitOfMemory(t *testing.T) {
	const hard = 400 << 20
	if !hasLimit(t, syscall.RLIMIT_DATA, hard) {
		return
	}
	testkit.Equal(t, compileSmall(t), nil, "what is logged")
	_, err := Compile(t.Context(), bombs["2,000 globals and 20,000 calls"](), false)
	testkit.ErrorHas(t, err, "which may take 400 MiB of memory, ended with exit status 2: ")
}

// hasLimit reports whether this process has a limit. One that does not runs the test in a process that has: go test writes files, too, and
// a hard limit cannot be taken back.
func hasLimit(t *testing.T, resource int, hard uint64) bool {
	t.Helper()
	const limited = "TEST_WITH_A_LIMIT"
	if os.Getenv(limited) != "" {
		testkit.Must(t, syscall.Setrlimit(resource, &syscall.Rlimit{Cur: hard, Max: hard}))
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), limited+"=1")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, said)
	}
	return false
}

// It takes 1 GB to read a guest of 60 MB.
func TestChildReadsTheGuest(t *testing.T) {
	testkit.EmptyTemp(t)
	code := bytes.Repeat([]byte{opLocalGet, 0, opLocalSet, 0}, 1_900_000)
	wasm := assemble(1, code, exported, bytes.Repeat(section(0, sized([]byte("x")), make([]byte, 1<<20)), 50))
	testkit.Must(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // the peak begins here
	before := peak(t)
	m, err := Compile(t.Context(), wasm, true)
	testkit.Must(t, err)
	testkit.Must(t, m.Close(t.Context()))
	more := peak(t) - before
	if more > 64 {
		t.Errorf("this process took %d MiB for a guest of %d MiB", more, len(wasm)>>20)
	}
	t.Logf("%d MiB more", more)
}
