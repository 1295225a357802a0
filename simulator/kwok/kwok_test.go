package kwok

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// program makes a script that stands in for the program, and writes what it was
// given, and its process, into files beside it.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kwok")
	text := fmt.Sprintf("#!/bin/sh\necho \"$@\" >%s.args\necho $$ >%s.new && mv %[2]s.new %[2]s.pid\n%[3]s\n", path, path, script)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// process is that of a program that has begun.
func process(t *testing.T, path string) (pid int) {
	t.Helper()
	eventually.Succeeds(t, path+" begins", func(context.Context) error {
		text, err := os.ReadFile(path + ".pid")
		if err != nil {
			return err
		}
		_, err = fmt.Sscan(string(text), &pid)
		return err
	})
	return pid
}

func isGone(t *testing.T, pid int) {
	t.Helper()
	eventually.Succeeds(t, fmt.Sprint("process ", pid, " ends"), func(context.Context) error {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("it runs: %v", err)
		}
		return nil
	})
}

func TestItManagesAllNodesDoesNotListenAndEndsWhenItIsStopped(t *testing.T) {
	path := program(t, "exec sleep 600")
	ctx, stop := context.WithCancel(t.Context())
	wait, err := Start(ctx, Options{Path: path, Configs: []string{"a.yaml", "b.yaml"}}, "its.kubeconfig", io.Discard, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	pid := process(t, path)
	args, err := os.ReadFile(path + ".args")
	const want = "--kubeconfig=its.kubeconfig --manage-all-nodes --server-address= --node-port=0 " +
		"--cidr=10.244.0.0/14 --node-ip=10.0.0.1 --v=WARN --config=a.yaml --config=b.yaml\n"
	if string(args) != want || err != nil {
		t.Errorf("arguments %q, %v, want %q", args, err, want)
	}
	stop()
	wait()
	isGone(t, pid)
}

func TestAnUnexpectedEndIsReportedWithTheLastLine(t *testing.T) {
	for script, want := range map[string]string{
		`echo first; echo '{"level":"ERROR","msg":"Execute exit","err":"no stages found"}' >&2; exit 3`: "exit status 3: Execute exit: no stages found",
		`echo; echo plainly; kill -9 $$`: "signal: killed: plainly",
		"exit 0":                         "exit status 0: it wrote nothing",
	} {
		path, ended, logs := program(t, script), make(chan error, 1), &bytes.Buffer{}
		wait, err := Start(t.Context(), Options{Path: path}, "", logs, func(err error) { ended <- err })
		if err != nil {
			t.Fatal(err)
		}
		if err, want := <-ended, "kwok ("+path+") has ended: "+want; err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		wait()
		if strings.Contains(script, "first") && !strings.HasPrefix(logs.String(), "first\n") {
			t.Errorf("logs %q", logs)
		}
	}
}

// TestMain is a simulator that runs a program, if it is asked to be.
func TestMain(m *testing.M) {
	if path := os.Getenv("RUN_KWOK"); path != "" {
		if _, err := Start(context.Background(), Options{Path: path}, "", io.Discard, func(error) {}); err != nil {
			panic(err)
		}
		time.Sleep(10 * time.Minute)
	}
	os.Exit(m.Run())
}

func TestItEndsWithAProcessThatIsKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can do that")
	}
	path := program(t, "exec sleep 600")
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "RUN_KWOK="+path)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid := process(t, path)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	isGone(t, pid)
}

func TestWhatCannotBeStartedIsSaid(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string]Options{
		"": {},
		"--kwok-config is for the program of --kwok, and there is none":                        {Configs: []string{"x"}},
		"--kwok: exec: \"" + dir + "/none\": stat " + dir + "/none: no such file or directory": {Path: dir + "/none"},
		"--kwok: exec: \"" + plain + "\": permission denied":                                   {Path: plain},
		"--kwok: exec: \"" + dir + "\": is a directory":                                        {Path: dir},
		"--kwok-config: stat " + dir + "/none: no such file or directory":                      {Path: "/bin/sh", Configs: []string{dir + "/none"}},
	} {
		if err := options.Check(); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%v: %v, want %s", options, err, want)
		}
	}
}
