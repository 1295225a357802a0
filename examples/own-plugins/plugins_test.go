package ownplugins

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	simulator "wasmkwokwizardry.io/regex-scheduling/simulator/command"
)

// program makes the test binary be one of the programs in cmd.
const program = "TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(program) {
	case "scheduler":
		scheduler.Main(All...)
	case "simulator":
		simulator.Main(All...)
	}
	os.Exit(m.Run())
}

func start(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), program+"="+name, "KUBERNETES_MASTER=", "KUBECONFIG=")
	return cmd
}

func TestSimulatorRecordsWhatThePluginsSay(t *testing.T) {
	cmd := start(t.Context(), "simulator", "--headless", "--port", "0", "--api-port", "0",
		"--config", "scheduler.yaml", "--from", "cluster.yaml")
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = t.Output()
	must(t, cmd.Start())
	addresses := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			found := regexp.MustCompile(`API +(http://\S+/api/v1)/`).FindStringSubmatch(lines.Text())
			if found != nil {
				addresses <- found[1]
			}
		}
		ended <- cmd.Wait()
	}()
	address := receive(t, "the simulator's address", addresses)
	config, err := os.ReadFile("scheduler.yaml")
	must(t, err)
	ask(t, address+"/schedulerconfiguration", string(config)) // a scheduler that sees all nodes at its start
	ask(t, address+"/import", `{"pods": [{"metadata": {"name": "late", "namespace": "default"}, "spec": {"containers": [{"name": "c", "image": "c"}]}}]}`)
	var attempts string
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		attempts = ask(t, address+"/pods/default/late/attempts", "")
		return strings.Contains(attempts, `"result":"Scheduled"`), nil
	})
	if err != nil {
		t.Fatalf("the pod has no node: %v: %s", err, attempts)
	}
	for _, want := range []string{
		`"node":"heavy"`,
		`{"name":"Maintenance","failed":1}`,
		`"reason":"node(s) were in maintenance, or soon will be"`,
		`{"name":"Weight","weight":5}`,
		`{"score":90,"normalized":90,"weighted":450}`,
		`{"score":10,"normalized":10,"weighted":50}`,
	} {
		if !strings.Contains(attempts, want) {
			t.Errorf("no %s in %s", want, attempts)
		}
	}
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := receive(t, "the simulator's end", ended); err != nil {
		t.Error(err)
	}
}

// patience is how long something may take on a busy machine.
const patience = 2 * time.Minute

func receive[T any](t *testing.T, what string, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(patience):
		t.Fatalf("no sign of %s", what)
	}
	return value
}

// ask gets what is at a URL, or posts a body that is not empty.
func ask(t *testing.T, url, body string) string {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	must(t, err)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusInternalServerError {
		t.Fatalf("%s: %s %v %s", url, response.Status, err, answer)
	}
	return string(answer)
}

func TestComparisonNamesThem(t *testing.T) {
	cmd := start(t.Context(), "simulator", "compare", "--cluster", "cluster.yaml", "--a", "none", "--b", "scheduler.yaml", "-o", "json")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	var result struct {
		Differences []struct {
			Plugin string
			A, B   struct{ Node string }
		}
	}
	if err != nil || json.Unmarshal(out, &result) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	causes := map[string]string{} // by the node under A
	for _, d := range result.Differences {
		causes[d.A.Node] = d.Plugin + " to " + d.B.Node
	}
	want := map[string]string{"broken": "Maintenance to heavy", "light": "Weight to heavy"}
	if !maps.Equal(causes, want) {
		t.Errorf("got %v, want %v", causes, want)
	}
}

// mistakes are what a change of scheduler.yaml earns, and where.
var mistakes = []struct {
	name, old, new string
	line           int
	want           string
}{
	{"an unknown field", "ahead: 2h", "ahed: 2h", 13, `profiles[0].pluginConfig[0].args.ahed: unknown field: do you mean "ahead"?`},
	{"another type", "ahead: 2h", "ahead: soon", 13, `profiles[0].pluginConfig[0].args.ahead: expected a duration such as 1m30s, found a string: invalid duration "soon"`},
	{"another name", "- name: Weight\n        weight", "- name: Weigh\n        weight", 8, "plugin Weigh: profile default-scheduler enables it, but it is not compiled in"},
}

func TestMistakesInTheirArgsAreReported(t *testing.T) {
	text, err := os.ReadFile("scheduler.yaml")
	must(t, err)
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "wrong.yaml")
			changed := strings.Replace(string(text), m.old, m.new, 1)
			must(t, os.WriteFile(file, []byte(changed), 0o600))
			wantLast(t, start(t.Context(), "scheduler", "--config", file, "--master", "http://127.0.0.1:1", "--secure-port", "0"),
				"kube-scheduler: config "+file+": "+m.want)
			wantLast(t, start(t.Context(), "simulator", "compare", "--cluster", "cluster.yaml", "--a", "none", "--b", file),
				fmt.Sprintf("simulator: --b %s: line %d: %s", file, m.line, m.want))
		})
	}
}

// wantLast wants a command to fail, with a last line that begins so.
func wantLast(t *testing.T, cmd *exec.Cmd, want string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err == nil || !strings.HasPrefix(lines[len(lines)-1], want) {
		t.Errorf("%v, want %s:\n%s", err, want, out)
	}
}

func TestMaintenanceGoesByTheWindow(t *testing.T) {
	const window = "2026-12-01T22:00:00Z/2026-12-02T04:00:00Z"
	for _, test := range []struct {
		name, now, window string
		want              fwk.Code
	}{
		{"long before", "2026-12-01T19:59:59Z", window, fwk.Success},
		{"shortly before", "2026-12-01T20:00:00Z", window, fwk.UnschedulableAndUnresolvable},
		{"in it", "2026-12-02T03:59:59Z", window, fwk.UnschedulableAndUnresolvable},
		{"after it", "2026-12-02T04:00:00Z", window, fwk.Success},
		{"what is no window", "2026-12-02T04:00:00Z", "tonight", fwk.UnschedulableAndUnresolvable},
	} {
		t.Run(test.name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, test.now)
			must(t, err)
			node := framework.NewNodeInfo()
			node.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{Window: test.window}}})
			plugin := &maintenance{ahead: 2 * time.Hour, now: func() time.Time { return now }}
			got := plugin.Filter(t.Context(), nil, &v1.Pod{}, node)
			if got.Code() != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
