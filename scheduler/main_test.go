package scheduler

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
	if os.Getenv(asSimulator) != "" {
		simulator.Main()
	}
	if os.Getenv(asCommand) != "" {
		Main(app.WithPlugin("FactoryPanics", panics.Plugins["FactoryPanics"]))
	}
	os.Exit(m.Run())
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
	files, err := filepath.Glob(configs + "bad/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			testkit.Must(t, err)
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
	for _, tt := range []struct {
		args []string
		ok   bool
		want string
	}{
		{[]string{"--help", "--config", "no/such/file"}, true, "--leader-elect"},
		{[]string{"--version", "--config", "no/such/file"}, true, ", go1."},
		{[]string{"--version=raw", "--config", "no/such/file"}, true, "GitVersion:"},
		{[]string{"--no-such-flag"}, false, "kube-scheduler: unknown flag: --no-such-flag\n"},
		{[]string{"--config", "no/such/file"}, false, "kube-scheduler: reading the configuration: open no/such/file: no such file or directory\n"},
	} {
		out, err := command(t, tt.args...)
		if (err == nil) != tt.ok || !strings.Contains(out, tt.want) || !tt.ok && !strings.HasSuffix(out, tt.want) {
			t.Errorf("%q: %v\n%s", tt.args, err, out)
		}
	}
}

func TestKubeconfigWithoutAnEndIsAnError(t *testing.T) {
	config := filepath.Join(t.TempDir(), "scheduler.yaml")
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nclientConnection: {kubeconfig: /dev/zero}\n"
	testkit.Must(t, os.WriteFile(config, []byte(text), 0o600))
	for flag, file := range map[string]string{"--kubeconfig": "/dev/zero", "--authentication-kubeconfig": "/dev/zero", "--authorization-kubeconfig": "/dev/zero", "--config": config} {
		out, err := command(t, flag, file)
		if err == nil || !strings.HasSuffix(out, "kubeconfig /dev/zero: it has more than 1 MiB\n") {
			t.Errorf("%s: %v\n%s", flag, err, out)
		}
	}
}

func TestPluginWhoseFactoryPanicsIsNamed(t *testing.T) {
	config := filepath.Join(t.TempDir(), "scheduler.yaml")
	const text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: {multiPoint: {enabled: [{name: FactoryPanics}]}}}]\n"
	testkit.Must(t, os.WriteFile(config, []byte(text), 0o600))
	out, err := command(t, "--config="+config, "--master=http://127.0.0.1:1", "--secure-port=0")
	if err == nil || err.Error() != "exit status 1" || !strings.Contains(out, `initializing plugin "FactoryPanics": a plugin, or the scheduler, panicked in `) {
		t.Errorf("%v\n%s", err, out)
	}
}

// Writing the configuration is the last thing that kube-scheduler does before
// it contacts the API server: all guests run by then.
func TestEveryGoodConfigGetsAsFarAsTheAPIServer(t *testing.T) {
	files, err := filepath.Glob(configs + "good/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "") {
		t.Run("config="+filepath.Base(file), func(t *testing.T) {
			written := filepath.Join(t.TempDir(), "written.yaml")
			args := []string{"--master=http://127.0.0.1:1", "--secure-port=0", "--write-config-to=" + written}
			if file != "" {
				args = append(args, "--config="+file)
			}
			if out, err := command(t, args...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if _, err := os.Stat(written); err != nil {
				t.Error(err)
			}
		})
	}
}
