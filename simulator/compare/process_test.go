package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/side"
)

// program is a script in place of a simulator.
func program(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

const hello = `echo '{"format":1}'
`

// runs ends a script that is told of no cluster: it is to look at the configuration.
const runs = `case "$(cat)" in *'"nodes":'*) ;; *) exit 0;; esac
`

func TestAProgramThatIsNoSideIsToldOfItsSide(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, test := range map[string]struct{ program, want string }{
		"it is not there":        {"/no/such", "^fork/exec /no/such: no such file or directory$"},
		"it says nothing":        {program(t, "exit 0"), "/program is no simulator that runs sides"},
		"it knows no sides":      {program(t, "(echo 'unknown command side'; echo usage) >&2; exit 1"), "/program is no simulator that runs sides.*; the last it wrote: unknown command side$"},
		"it says other things":   {program(t, "while :; do echo hello; done"), "its program is no simulator that runs sides"},
		"it says JSON":           {program(t, "echo '{}'; cat"), "its program is no simulator that runs sides"},
		"it is of another time":  {program(t, `echo '{"format":7}'; cat`), "its program writes results of format 7, and this one reads format 1"},
		"it says what is wrong":  {program(t, hello+`echo '{"format":1,"error":"no good"}'; echo '{"format":1}'; exit 2`), "^no good$"},
		"it dies":                {program(t, hello+"(echo other; echo 'panic: index'; echo; echo goroutine) >&2; kill -9 $$"), "(?s)^its process ended early: signal: killed; the last it wrote: panic: index\n\ngoroutine$"},
		"it fails without words": {program(t, hello+"exit 3"), "^its process ended early: exit status 3$"},
	} {
		o := Options{A: door(t, "default"), B: door(t, "v2"), Cluster: cluster(1, 1), Pods: side.Pending}
		o.B.Program = test.program
		_, err := Run(t.Context(), o)
		sides := SideErrors(nil)
		if !errors.As(err, &sides) || len(sides) != 1 || sides[0].Side != "B" || !regexp.MustCompile(test.want).MatchString(sides[0].Err.Error()) {
			t.Errorf("%s: %v", name, err)
		}
		nothingLeft(t)
	}
}

func TestASideThatHangsIsTold(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	// Like a guest that cannot be interrupted, it does not go by signals either.
	hangs := program(t, hello+runs+`trap '' TERM; echo stuck >&2; while :; do sleep 1; done`)
	o := Options{A: door(t, "default"), B: door(t, "v2"), Cluster: cluster(1, 1), Pods: side.Pending, Patience: time.Nanosecond}
	o.A.Program = program(t, hello+runs+`while :; do echo '{"format":1,"step":"goes on"}'; sleep 1; done`)
	o.B.Program = hangs
	_, err := Run(t.Context(), o)
	if err == nil || !strings.HasPrefix(err.Error(), "v2: its process hangs: it said nothing for 5") || !strings.Contains(err.Error(), "wrote: stuck") {
		t.Error(err)
	}
	nothingLeft(t)
}

func TestASideThatIsKilledIsTold(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	o := Options{A: door(t, "default"), B: door(t, "v2"), Cluster: cluster(20, 200), Pods: side.Pending}
	killed := make(chan error, 1)
	o.Progress = func(p side.Progress) {
		if p.Side == "B" && p.Step == side.Schedules && len(killed) == 0 {
			killed <- kill("B.json.gz")
		}
	}
	_, err := Run(t.Context(), o)
	if len(killed) == 0 {
		t.Fatalf("it is over before: %v", err)
	}
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	if err == nil || err.Error() != "v2: its process ended early: signal: killed" {
		t.Error(err)
	}
	nothingLeft(t)
}

// kill kills the side with a file in its command line.
func kill(file string) error {
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return err
	}
	for _, path := range all {
		line, _ := os.ReadFile(path)
		if args := strings.Split(string(line), "\x00"); len(args) > 4 && args[1] == side.CommandName && strings.HasPrefix(args[3], os.Getenv("TMPDIR")) && strings.HasSuffix(args[3], file) {
			var pid int
			if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err != nil {
				return err
			}
			return syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return fmt.Errorf("no process of %s", file)
}
