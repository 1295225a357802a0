package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// asSimulator has the test binary be the simulator.
const asSimulator = "TEST_AS_SIMULATOR"

// TestMain has the test binary be the command itself, as the sides of a comparison are, and the child that
// compiles their guests.
func TestMain(m *testing.M) {
	wasmhost.CompileInChild()
	if len(os.Args) > 1 && os.Args[1] == side.CommandName || os.Getenv(asSimulator) != "" {
		Main()
	}
	os.Exit(m.Run())
}

// Files of testdata/commands.
const (
	compared  = "testdata/commands/compared.yaml"
	drainable = "testdata/commands/drainable.yaml"
)

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// here runs a command to its end.
func here(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), args, &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

// refused fails unless a command ends without a result for each of some arguments, says why in its last line,
// and has scheduled nothing before.
func refused(t *testing.T, command string, mistakes map[string][]string) {
	t.Helper()
	for want, args := range mistakes {
		status, out, errOut := here(t, append(strings.Fields(command), args...)...)
		lines := strings.Split(strings.TrimSpace(errOut), "\n")
		if status != statusNone || out != "" || !strings.Contains(lines[len(lines)-1], want) || strings.Contains(errOut, ": schedules") {
			t.Errorf("%s %v: want %q, got status %d, %q %s", command, args, want, status, errOut, out)
		}
	}
}

// running is a simulator that runs.
type running struct {
	out  *testkit.Log
	done chan int
}

// start runs a simulator on free ports until a context ends.
func start(ctx context.Context, args ...string) running {
	r := running{&testkit.Log{}, make(chan int, 1)}
	args = append([]string{"--port", "0", "--api-port", "0"}, args...)
	go func() { r.done <- run(ctx, args, r.out, r.out) }()
	return r
}

// await waits until the command has printed something, and returns the group in
// the pattern.
func (r running) await(t *testing.T, pattern string) (group string) {
	t.Helper()
	testkit.Eventually(t, "it prints "+pattern, func(context.Context) error {
		found := regexp.MustCompile(pattern).FindStringSubmatch(r.out.String())
		if found != nil {
			group = found[1]
			return nil
		}
		select {
		case code := <-r.done:
			t.Fatalf("it ended with %d: %s", code, r.out)
		default:
		}
		return fmt.Errorf("it prints %s", r.out)
	})
	return group
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	testkit.Must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	testkit.Must(t, err)
	return response.StatusCode, string(body)
}

func TestSimulatorFromStartToStop(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, dir, "import.json", `{"nodes":[{"metadata":{"name":"kubecon-1"}}]}`)
	config := writeFile(t, dir, "config.yaml", "# mine\nprofiles: [{schedulerName: mine}]\nextenders: [{urlPrefix: http://127.0.0.1:1, filterVerb: filter}]\n")
	r := start(t.Context(), "--from", file, "--config", config, "--example")
	r.await(t, `API +(http://localhost:\d+)/api/v1/\n[^$]*Ctrl-C`)
	page := r.await(t, `page +(http://localhost:\d+)`)
	r.await(t, `(simulator: warning: extender http://127.0.0.1:1 does not answer: .*connection refused)`)
	code, body := get(t, page+"/")
	if code != 200 || !strings.Contains(body, "<html") {
		t.Errorf("the page is %d %s", code, body)
	}
	code, body = get(t, page+"/api/v1/export")
	if code != 200 || !strings.Contains(body, "kubecon-1") || !strings.Contains(body, `"mine"`) || !strings.Contains(body, "node-8xkzr") || !strings.Contains(body, "cncf-.*") {
		t.Errorf("it exports %d %s", code, body)
	}
	port := page[strings.LastIndex(page, ":")+1:]
	send(t, "POST", page+"/api/v1/import", `{"nodes":[{"metadata":{"name":"made-later"}}]}`, 200)
	testkit.Equal(t, run(t.Context(), []string{"reset", "--port", port}, io.Discard, t.Output()), 0, "the status of reset")
	_, body = get(t, page+"/api/v1/export")
	if !strings.Contains(body, `"kubecon-1"`) || strings.Contains(body, "made-later") || strings.Contains(body, "node-8xkzr") || strings.Contains(body, "cncf-.*") {
		t.Errorf("a reset does not go back to the start: %s", body)
	}
	testkit.Equal(t, run(t.Context(), []string{"stop", "--port", port}, io.Discard, t.Output()), 0, "the status of stop")
	testkit.Equal(t, <-r.done, 0, "the status of the simulator, which printed %s", r.out)
}

func send(t *testing.T, method, url, body string, want int) {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	testkit.Must(t, err)
	response, err := http.DefaultClient.Do(request)
	testkit.Must(t, err)
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	if response.StatusCode != want {
		t.Fatalf("%s %s: %d %s", method, url, response.StatusCode, answer)
	}
}

// session runs a simulator without a page, does something with it, given its URL,
// and stops it. It returns what was printed.
func session(t *testing.T, args []string, do func(base string)) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := start(ctx, append([]string{"--headless"}, args...)...)
	do(r.await(t, `API +(http://localhost:\d+)/api/v1/\n[^$]*Ctrl-C`))
	cancel()
	testkit.Equal(t, <-r.done, 0, "the status of what printed %s", r.out)
	return r.out.String()
}

func TestDataDirectoryKeepsTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "scheduler-config.yaml")
	with := func(args ...string) []string { return append([]string{"--data-dir", dir}, args...) }
	expect := func(name string) func(string) {
		return func(base string) {
			t.Helper()
			_, config := get(t, base+"/api/v1/schedulerconfiguration")
			testkit.Has(t, config, name)
		}
	}
	const applied = "# mine\nprofiles: [{schedulerName: applied}]\n"
	session(t, with("--plugin", "native"), func(base string) {
		expect("RegexScheduling")(base)
		send(t, "POST", base+"/api/v1/schedulerconfiguration", applied, 202)
	})
	out := session(t, with(), func(base string) {
		expect(`"applied"`)(base)
		send(t, "POST", base+"/api/v1/schedulerconfiguration", "{profiles: [{schedulerName: other}]}", 202)
		send(t, "PUT", base+"/api/v1/reset", "", 202)
		expect(`"applied"`)(base)
	})
	testkit.Has(t, out, "kube-scheduler with the configuration kept in "+file)
	session(t, with("--plugin", "native"), expect("RegexScheduling"))
	testkit.Equal(t, string(testkit.ReadFile(t, file)), applied, "what is kept")
	for text, why := range map[string]string{
		"profiles: [": "yaml: ",
		"profiles: [{plugins: {multiPoint: {enabled: [{name: Gone}]}}}]": "plugin Gone",
	} {
		testkit.Must(t, os.WriteFile(file, []byte(text), 0o600))
		out := session(t, with(), expect("WasmRegexScheduling"))
		line := regexp.MustCompile(`(?m)^simulator: warning: the kept configuration .*$`).FindString(out)
		testkit.Has(t, line, file+" cannot be used: ", why, "; plugin variant v2 runs instead: fix the file or remove it")
		testkit.Equal(t, string(testkit.ReadFile(t, file)), text, "the file")
	}
}

func TestSimulatorWithoutPageAndKubeletsOnAPublicAddress(t *testing.T) {
	printed := session(t, []string{"--plugin", "native", "--kubelets", "none", "--listen", "0.0.0.0"}, func(base string) {
		code, _ := get(t, base+"/")
		testkit.Equal(t, code, 404, "the status of a page")
		send(t, "POST", base+"/api/v1/import", `{"nodes":[{"metadata":{"name":"kubecon-1"}}]}`, 200)
		_, nodes := get(t, base+"/api/v1/export")
		if !strings.Contains(nodes, "kubecon-1") || strings.Contains(nodes, "KubeletReady") {
			t.Error(nodes)
		}
	})
	testkit.Has(t, printed, "simulator: warning: --listen 0.0.0.0: there is no password: who reaches this address can do everything")
	if strings.Contains(printed, "fake kubelets") || strings.Contains(printed, "Open the page") {
		t.Error(printed)
	}
}

func TestPortThatIsTakenIsOneLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	for flag, others := range map[string][]string{
		"--port": nil, "--api-port": {"--port", "0"}, "--web-port": {"--port", "0", "--api-port", "0"}, // of the guests
	} {
		status, out, errOut := here(t, append(others, flag, port)...)
		text := progress.ReplaceAllString(out+errOut, "")
		want := "simulator: port " + port + " is taken by another program: stop it, or choose another port with " + flag
		if status != 1 || !strings.HasPrefix(text, want) || strings.Count(text, "\n") != 1 {
			t.Errorf("status %d: got %q, want one line with %q", status, text, want)
		}
	}
}
