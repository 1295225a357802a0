package scheduler

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/panics"
	simulator "wasmkwokwizardry.io/regex-scheduling/simulator/command"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

const configs = "../testdata/scheduler/"

// asCommand makes the test binary be the command itself: kube-scheduler ends
// some of its ways with os.Exit.
const asCommand = "TEST_AS_SCHEDULER"

// asSimulator makes it be the simulator.
const asSimulator = "TEST_AS_SIMULATOR"

func TestMain(m *testing.M) {
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged // the command runs many times
	if os.Getenv(asSimulator) != "" {
		simulator.Main()
	}
	if os.Getenv(asCommand) != "" {
		Main(app.WithPlugin("FactoryPanics", panics.Plugins["FactoryPanics"]))
	}
	os.Exit(m.Run())
}

// configured writes a configuration with these fields.
func configured(t *testing.T, fields string) (file string) {
	t.Helper()
	return testkit.TempFile(t, "scheduler.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+fields)
}

func command(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "KUBERNETES_MASTER=", "KUBECONFIG=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Each file in testdata/scheduler/bad says in its last line with which message it stops the start.
func TestEveryBadConfigStopsTheStartWithOneLine(t *testing.T) {
	for _, file := range testkit.Files(t, configs+"bad/*") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := testkit.ReadFile(t, file)
			_, want, ok := strings.Cut(strings.TrimSpace(string(text)), "\n# want: ")
			if !ok {
				t.Fatal("its last line does not say what to want")
			}
			want = "kube-scheduler: config " + file + ": " + want
			var stdout, stderr bytes.Buffer
			code := run(wasmhost.New(fetch.Fetcher{}.Options()), []string{"--config", file}, &stdout, &stderr)
			if code != 1 || stdout.Len() > 0 {
				t.Errorf("exit code %d; on standard output: %s", code, &stdout)
			}
			got := stderr.String()
			if !strings.HasPrefix(got, want) || strings.Index(got, "\n") != len(got)-1 {
				t.Errorf("got\n%s\nwant one line that begins with\n%s", got, want)
			}
		})
	}
}

func TestHelpVersionAndFlagsThatAreWrong(t *testing.T) {
	const endless = "kubeconfig /dev/zero: it has more than 1 MiB\n"
	for _, tt := range []struct {
		args []string
		ok   bool
		want string
	}{
		{[]string{"--help", "--config", "no/such/file"}, true, "--leader-elect"},
		{[]string{"--version", "--config", "no/such/file"}, true, ", go1."},
		{[]string{"--version=raw", "--config", "no/such/file"}, true, "GitVersion:"},

		{[]string{"--no-such-flag"}, false, "kube-scheduler: unknown flag: --no-such-flag\n"},
		{[]string{"--wait-for-guests=-5s"}, false, "kube-scheduler: invalid argument \"-5s\" for \"--wait-for-guests\" flag: use a duration from 0s to 24h0m0s, such as 1m30s\n"},
		{[]string{"--decisions=-1"}, false, "kube-scheduler: invalid argument \"-1\" for \"--decisions\" flag: use a number of bytes from 0 to 7Ei, such as 2Gi\n"},
		{[]string{"--config", "no/such/file"}, false, "kube-scheduler: reading the configuration: open no/such/file: no such file or directory\n"},
		{[]string{"--kubeconfig", "/dev/zero"}, false, endless},
		{[]string{"--authentication-kubeconfig", "/dev/zero"}, false, endless},
		{[]string{"--authorization-kubeconfig", "/dev/zero"}, false, endless},
		{[]string{"--config", configured(t, "clientConnection: {kubeconfig: /dev/zero}\n")}, false, endless},
	} {
		out, err := command(t, tt.args...)
		if (err == nil) != tt.ok || !strings.Contains(out, tt.want) || !tt.ok && !strings.HasSuffix(out, tt.want) {
			t.Errorf("%q: %v\n%s", tt.args, err, out)
		}
	}
}

func TestPluginWhoseFactoryPanicsIsNamed(t *testing.T) {
	config := configured(t, "profiles: [{plugins: {multiPoint: {enabled: [{name: FactoryPanics}]}}}]\n")
	out, err := command(t, "--config="+config, "--master=http://127.0.0.1:1", "--secure-port=0")
	if err == nil || err.Error() != "exit status 1" || !strings.Contains(out, `initializing plugin "FactoryPanics": a plugin, or the scheduler, panicked in `) {
		t.Errorf("%v\n%s", err, out)
	}
}

// Writing the configuration is the last thing that kube-scheduler does before
// it contacts the API server: all guests run by then.
func TestEveryGoodConfigGetsAsFarAsTheAPIServer(t *testing.T) {
	for _, file := range append(testkit.Files(t, configs+"good/*"), "") {
		t.Run("config="+filepath.Base(file), func(t *testing.T) {
			written := filepath.Join(t.TempDir(), "written.yaml")
			args := []string{"--master=http://127.0.0.1:1", "--secure-port=0", "--write-config-to=" + written}
			if file != "" {
				args = append(args, "--config="+file)
			}
			if out, err := command(t, args...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_, err := os.Stat(written)
			testkit.Must(t, err)
		})
	}
}

// notYet are the answers of a server whose guest is to come: its pods start, and are replaced by those of a release.
var notYet = []http.HandlerFunc{
	func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	http.NotFound,
	func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "../testdata/guests/permit.wasm") },
}

func TestStartAsksAgainForAGuestThatIsUnavailable(t *testing.T) {
	testkit.OnOneMinor(t)
	const guest = "../testdata/guests/empty_filter.wasm"
	wasm := testkit.ReadFile(t, guest)
	for name, tt := range map[string]struct {
		profile, flag string // what else the configuration and the command line have
		answers       []http.HandlerFunc
		asked         int64 // 0: that depends on the machine
		want          []string
	}{
		"until the server has it": {
			answers: append(notYet, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, guest) }), asked: 5,
			want: []string{`"The guest is unavailable: asking again" plugin="Wasm" for="1m30s" err="plugin Wasm: guest http://`, `"The guest has become available" plugin="Wasm"`},
		},
		"until the time is up":           {flag: "--wait-for-guests=250ms", answers: notYet[1:2], want: []string{"the server answered 503 Service Unavailable\n"}},
		"not with 0":                     {flag: "--wait-for-guests=0", answers: notYet, asked: 1, want: []string{": EOF\n"}},
		"unless another file is missing": {profile: "schedulerName: a\nclientConnection: {kubeconfig: no-such.kubeconfig}", answers: notYet, asked: 1, want: []string{"no-such.kubeconfig: no such file"}},
		"unless tracing cannot be":       {flag: "--tracing-config-file=no-such.yaml", answers: notYet, asked: 1, want: []string{"no-such.yaml: no such file"}},
		"unless there is a mistake":      {profile: "noSuchField: 1", answers: notYet, asked: 1, want: []string{": EOF; ", "noSuchField"}},
		"unless another guest has failed": {
			profile: "schedulerName: a\n- schedulerName: b\n  plugins: {multiPoint: {enabled: [{name: Wasm}]}}\n  pluginConfig: [{name: Wasm, args: {guestURL: 'file:///no/such.wasm'}}]",
			answers: notYet[1:2], asked: 1, want: []string{"the server answered 503 Service Unavailable; ", "no such file"},
		},
		"unless the server will not":     {answers: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }}, asked: 1, want: []string{"403 Forbidden\n"}},
		"unless it can never be a guest": {answers: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "main_test.go") }}, asked: 1, want: []string{"not a Wasm module\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				tt.answers[min(asked.Add(1), int64(len(tt.answers)))-1](w, r)
			}))
			defer server.Close()
			config := configured(t, fmt.Sprintf("profiles:\n"+
				"- plugins: {multiPoint: {enabled: [{name: Wasm}]}}\n  pluginConfig: [{name: Wasm, args: {guestURL: '%s/guest.wasm', guestSHA256: %x}}]\n  %s\n",
				server.URL, sha256.Sum256(wasm), tt.profile))
			args := []string{"--config=" + config, "--master=http://127.0.0.1:1", "--secure-port=0", "--write-config-to=" + filepath.Join(t.TempDir(), "written.yaml")}
			if tt.flag != "" {
				args = append(args, tt.flag)
			}
			out, err := command(t, args...)
			if ok := len(tt.answers) > len(notYet); (err == nil) != ok || tt.asked != 0 && asked.Load() != tt.asked {
				t.Errorf("%v; asked %d times\n%s", err, asked.Load(), out)
			}
			testkit.Has(t, out, tt.want...)
		})
	}
}
