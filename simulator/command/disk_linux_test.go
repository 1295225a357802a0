package command

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// onDisk runs a simulator whose data directory is on a disk of its own, which goes when
// the process ends.
func onDisk(t *testing.T, size string) running {
	t.Helper()
	const script = `mount -t tmpfs -o size=$1 none "$2" && exec "$0" --headless --port 0 --api-port 0 --data-dir "$2/data"`
	namespaces := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	try := exec.Command("mount", "-t", "tmpfs", "none", t.TempDir())
	try.SysProcAttr = namespaces
	if out, err := try.CombinedOutput(); err != nil {
		testkit.NotTested(t, fmt.Sprintf("no disk to mount in a namespace: run as root: %v: %s", err, bytes.TrimSpace(out)))
	}
	r := running{&testkit.Log{}, make(chan int, 1)}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, os.Args[0], size, t.TempDir())
	cmd.Env = append(os.Environ(), asSimulator+"=1")
	cmd.SysProcAttr = namespaces
	cmd.Stdout, cmd.Stderr = r.out, r.out
	testkit.Must(t, cmd.Start())
	go func() {
		_ = cmd.Wait() // its status says it
		r.done <- cmd.ProcessState.ExitCode()
	}()
	return r
}

func (r running) endsForWantOfRoom(t *testing.T) {
	t.Helper()
	code := testkit.EventuallyReceives(t, "the end", r.done)
	want := regexp.MustCompile(`\nsimulator: [^\n]*etcd[^\n]*: no space left on device: there is no room in /[^\n]*/data: make some [^\n]*--data-dir\n$`)
	if code != 1 || !want.MatchString(r.out.String()) || strings.Contains(r.out.String(), "goroutine ") {
		t.Errorf("it ended with %d: %s", code, r.out)
	}
}

// It once ended with a stack of Go.
func TestSimulatorReportsADiskThatIsTooSmall(t *testing.T) {
	onDisk(t, "20m").endsForWantOfRoom(t)
}

// It once ended without a word.
func TestSimulatorReportsAFullDisk(t *testing.T) {
	r := onDisk(t, "150m")
	base := r.await(t, `API +(http://localhost:\d+)/api/v1/\n[^$]*Ctrl-C`)
	big := strings.Repeat("x", 200_000)
	for i := 0; ; i++ {
		node := fmt.Sprintf(`{"nodes":[{"metadata":{"name":"node-%d","annotations":{"big":%q}}}]}`, i, big)
		answer, err := http.Post(base+"/api/v1/import", "application/json", strings.NewReader(node))
		if errors.Is(err, syscall.ECONNREFUSED) {
			break
		} else if err == nil {
			answer.Body.Close()
		}
	}
	r.endsForWantOfRoom(t)
}
