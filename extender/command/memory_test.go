package command_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/extender/command"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// asProgram makes the test's binary run the program instead.
const asProgram = "TEST_RUNS_THE_EXTENDER"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	os.Exit(command.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// process is the program in a process of its own.
type process struct {
	*exec.Cmd
	address string
}

func startProcess(t *testing.T, config string) *process {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	p := &process{address: l.Addr().String()}
	testkit.Must(t, l.Close())
	path := testkit.TempFile(t, "config.yaml", config)
	p.Cmd = exec.Command(os.Args[0], "--config="+path, "--listen="+p.address)
	p.Env = append(os.Environ(), asProgram+"=1", "GOMEMLIMIT=", "GOGC=")
	p.Stderr = os.Stderr
	testkit.Must(t, p.Start())
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		if err := p.Wait(); err != nil {
			t.Errorf("after a clean stop: %v", err)
		}
	})
	testkit.EventuallyHolds(t, "the program to answer", func() bool {
		response, err := http.Get("http://" + p.address + "/healthz")
		if err == nil {
			response.Body.Close()
		}
		return err == nil
	})
	return p
}

// peak is the most memory that the process has had, in MiB.
func (p *process) peak(t *testing.T) int {
	t.Helper()
	status := testkit.ReadFile(t, fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no VmHWM in %s", status)
	}
	kb, err := strconv.Atoi(string(found[1]))
	testkit.Must(t, err)
	return kb >> 10
}

// send sends a body so many times at once, and returns how often it got each
// status. A connection that is closed before all was sent counts as 0.
func (p *process) send(body []byte, times int) map[int]int {
	var mu sync.Mutex
	var all sync.WaitGroup
	statuses := map[int]int{}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: testkit.Patience}
	for range times {
		all.Go(func() {
			response, err := client.Post("http://"+p.address+"/filter", "application/json", bytes.NewReader(body))
			status := 0
			if err == nil {
				status = response.StatusCode
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
			mu.Lock()
			statuses[status]++
			mu.Unlock()
		})
	}
	all.Wait()
	return statuses
}

// TestExtenderBoundsMemoryOfHostileRequests sends little that becomes much: the peak of
// the process stays within limits.buffers and 256 MiB.
func TestExtenderBoundsMemoryOfHostileRequests(t *testing.T) {
	if runtime.GOOS != "linux" {
		testkit.NotTested(t, "no /proc: use Linux")
	}
	pod := `{"Pod":{"metadata":{"name":"web","annotations":{"scheduler.wasmkwokwizardry.io/regex":"` + strings.Repeat("x", 900) + `"}}},`
	list := func(begin, item string, n int, end string) []byte {
		return []byte(begin + strings.Repeat(item+",", n-1) + item + end)
	}
	var annotations strings.Builder
	for i := range 2_000_000 {
		fmt.Fprintf(&annotations, `"%x":"",`, i)
	}
	p := startProcess(t, "limits: {buffers: 512Mi}")
	for _, of := range []struct {
		what  string
		body  []byte
		times int
		want  int // a status that there must be
	}{
		{"nodes without anything", list(pod+`"Nodes":{"items":[`, `{}`, 7_000_000, `]}}`), 1, http.StatusRequestEntityTooLarge},
		{"names of nothing, in many small requests", list(pod+`"NodeNames":[`, `""`, 100_000, `]}`), 150, http.StatusOK},
		{"annotations", []byte(`{"Pod":{"metadata":{"annotations":{` + annotations.String() + `"x":""}}},"NodeNames":[]}`), 20, http.StatusTooManyRequests},
		{"depth", []byte(pod + `"x":` + strings.Repeat("[", 9990) + strings.Repeat("]", 9990) + `,"NodeNames":[]}`), 300, http.StatusBadRequest},
		{"a name before a mistake", []byte(pod + `"` + strings.Repeat("x", 120_000_000) + `"!`), 2, http.StatusBadRequest},
	} {
		statuses := p.send(of.body, of.times)
		peak := p.peak(t)
		t.Logf("%s, %d requests of %d kB: statuses %v, peak so far %d MiB", of.what, of.times, len(of.body)/1000, statuses, peak)
		if statuses[of.want] == 0 || peak > 512+256 {
			t.Errorf("%s: statuses %v, want some %d; the peak so far is %d MiB, want at most %d", of.what, statuses, of.want, peak, 512+256)
		}
	}
}
