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
		select {
		case code := <-r.done:
			t.Fatalf("it ended with %d: %s", code, r.out)
		default:
		}
		found := regexp.MustCompile(pattern).FindStringSubmatch(r.out.String())
		if found == nil {
			return fmt.Errorf("it prints %s", r.out)
		}
		group = found[1]
		return nil
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
	file := filepath.Join(dir, "import.json")
	testkit.Must(t, os.WriteFile(file, []byte(`{"nodes":[{"metadata":{"name":"kubecon-1"}}]}`), 0o600))
	config := filepath.Join(dir, "config.yaml")
	testkit.Must(t, os.WriteFile(config, []byte("# mine\nprofiles: [{schedulerName: mine}]\nextenders: [{urlPrefix: http://127.0.0.1:1, filterVerb: filter}]\n"), 0o600))
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
	code = run(t.Context(), []string{"reset", "--port", port}, io.Discard, t.Output())
	if code != 0 {
		t.Errorf("reset ended with %d", code)
	}
	_, body = get(t, page+"/api/v1/export")
	if !strings.Contains(body, `"kubecon-1"`) || strings.Contains(body, "made-later") || strings.Contains(body, "node-8xkzr") || strings.Contains(body, "cncf-.*") {
		t.Errorf("a reset does not go back to the start: %s", body)
	}
	code = run(t.Context(), []string{"stop", "--port", port}, io.Discard, t.Output())
	if code != 0 {
		t.Errorf("stop ended with %d", code)
	}
	code = <-r.done
	if code != 0 {
		t.Errorf("the simulator ended with %d: %s", code, r.out)
	}
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
	code := <-r.done
	if code != 0 {
		t.Errorf("it ended with %d: %s", code, r.out)
	}
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
			if !strings.Contains(config, name) {
				t.Errorf("it runs with %s, want %s", config, name)
			}
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
	if !strings.Contains(out, "kube-scheduler with the configuration kept in "+file) {
		t.Errorf("it does not say where its configuration is from: %s", out)
	}
	session(t, with("--plugin", "native"), expect("RegexScheduling"))
	kept, _ := os.ReadFile(file)
	if string(kept) != applied {
		t.Errorf("kept is %s", kept)
	}
	for text, why := range map[string]string{
		"profiles: [": "yaml: ",
		"profiles: [{plugins: {multiPoint: {enabled: [{name: Gone}]}}}]": "plugin Gone",
	} {
		testkit.Must(t, os.WriteFile(file, []byte(text), 0o600))
		out := session(t, with(), expect("WasmRegexScheduling"))
		line := regexp.MustCompile(`(?m)^simulator: warning: the kept configuration .*$`).FindString(out)
		if !strings.Contains(line, file+" cannot be used: ") || !strings.Contains(line, why) || !strings.Contains(line, "; plugin variant v2 runs instead: fix the file or remove it") {
			t.Errorf("%q: it says %q in %s", text, line, out)
		}
		left, err := os.ReadFile(file)
		if err != nil || string(left) != text {
			t.Errorf("the file is now %q, %v", left, err)
		}
	}
}

func TestSimulatorWithoutPageAndKubeletsOnAPublicAddress(t *testing.T) {
	printed := session(t, []string{"--plugin", "native", "--kubelets", "none", "--listen", "0.0.0.0"}, func(base string) {
		code, _ := get(t, base+"/")
		if code != 404 {
			t.Errorf("there is a page: %d", code)
		}
		send(t, "POST", base+"/api/v1/import", `{"nodes":[{"metadata":{"name":"kubecon-1"}}]}`, 200)
		_, nodes := get(t, base+"/api/v1/export")
		if !strings.Contains(nodes, "kubecon-1") || strings.Contains(nodes, "KubeletReady") {
			t.Error(nodes)
		}
	})
	if !strings.Contains(printed, "simulator: warning: --listen 0.0.0.0: there is no password: who reaches this address can do everything") {
		t.Errorf("it does not warn: %s", printed)
	}
	if strings.Contains(printed, "fake kubelets") || strings.Contains(printed, "Open the page") {
		t.Error(printed)
	}
}

func TestMistakesAreOneLineAndExitCodeOne(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	broken := filepath.Join(t.TempDir(), "broken.json")
	testkit.Must(t, os.WriteFile(broken, []byte("{"), 0o600))
	cut := filepath.Join(t.TempDir(), "cut.yaml")
	testkit.Must(t, os.WriteFile(cut, []byte("source: {objects: 2}\nnodes:\n- metadata: {name: a}\n"), 0o600))
	gone := filepath.Join(t.TempDir(), "gone")
	testkit.Must(t, os.WriteFile(gone, []byte("{current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]}"), 0o600))
	free := []string{"--port", "0", "--api-port", "0"}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"a port that is taken", []string{"--port", port}, "port " + port + " is taken by another program: stop it, or choose another port with --port"},
		{"the API server's port", []string{"--port", "0", "--api-port", port}, "port " + port + " is taken by another program: stop it, or choose another port with --api-port (0 is any free one)"},
		{"the port of the guests", append([]string{"--web-port", port}, free...), "with --web-port"},
		{"no file to start from", append([]string{"--from", "no/such"}, free...), "open no/such"},
		{"a broken file", append([]string{"--from", broken}, free...), broken + ": the file is cut off: unexpected EOF"},
		{"a file that was cut", append([]string{"--from", cut}, free...), cut + ": the file is cut off: it says that it has 2 objects, and has 1"},
		{"no kubeconfig", append([]string{"--kubeconfig", "no/such"}, free...), "kubeconfig: stat no/such"},
		{"a snapshot of a cluster that is not there", []string{"snapshot", "--kubeconfig", gone, "--to", filepath.Join(t.TempDir(), "c.yaml")}, "connection refused"},
		{"no configuration", append([]string{"--config", "no/such"}, free...), "--config: open no/such"},
		{"nothing to stop", []string{"stop", "--port", "1"}, "no simulator runs at port 1"},
		{"nothing to reset", []string{"reset", "--port", "1"}, "no simulator runs at port 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			code := run(t.Context(), test.args, &out, &out)
			if code != 1 {
				t.Errorf("it ended with %d", code)
			}
			text := progress.ReplaceAllString(out.String(), "")
			if !strings.Contains(text, test.want) || strings.Count(text, "\n") != 1 {
				t.Errorf("got %q, want one line with %q", text, test.want)
			}
		})
	}
}
