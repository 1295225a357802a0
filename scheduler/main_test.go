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

// badConfigs are the messages that the files in testdata/scheduler/bad earn.
var badConfigs = map[string]string{
	"all_stages.yaml": "parallelism: cannot unmarshal JSON string into Go int32; profile: unknown field: do you mean \"profiles\"?; " +
		"plugin WasmRegexScheduling: args: guestConfg: unknown field: do you mean \"guestConfig\"?; profile: duplicate field \"profile\": it is on line 5 already",
	"args_in_a_list.yaml":          `profiles[0].pluginConfig[0].args: cannot unmarshal JSON array into Go map[string]interface {}`,
	"args_of_in_tree.yaml":         `profiles[0].pluginConfig[0].args.addedAffinty: unknown field: do you mean "addedAffinity"?`,
	"config_is_an_object.yaml":     "plugin WasmRegexScheduling: args: guestConfig: cannot unmarshal JSON object into Go string: put it in quotes",
	"config_refused.yaml":          `plugin WasmRegexScheduling: guest file://../testdata/guests/config_refused.wasm: failed to create a guest pool: wasm: _start error: guestConfig: unknown field "colour"; see README; module closed with exit_code(1)`,
	"directory.yaml":               "plugin WasmRegexScheduling: guest file://../testdata/guests: not a regular file",
	"empty_url.yaml":               "plugin WasmRegexScheduling: args: guestURL is required",
	"extender_without_scheme.yaml": "extenders[0].urlPrefix: must begin with http:// or https:// and a host, as in http://localhost:8000/",
	"four_mistakes.yaml":           "parallelism: Invalid value: 0: should be an integer value greater than zero; plugin NoSuchPlugin: profile default-scheduler enables it, but it is not compiled in, and no pluginConfig of the profile gives it a guestURL; plugin WasmRegexScheduling: guest file://../testdata/guests/missing.wasm: stat ../testdata/guests/missing.wasm: no such file or directory; extenders[0].urlPrefix: must begin with http:// or https:// and a host, as in http://localhost:8000/",
	"guest_beside_args.yaml":       `plugin WasmRegexScheduling: profile default-scheduler enables it, but it is not compiled in, and no pluginConfig of the profile gives it a guestURL; profiles[0].pluginConfig[0].guestURL: unknown field`,
	"key_twice.yaml":               `extenders: duplicate field "extenders": it is on line 4 already`,
	"kind_missing.yaml":            "kind: is missing: it must be KubeSchedulerConfiguration",
	"misspelt.yaml":                `profiles[0].plugin: unknown field: do you mean "plugins"?`,
	"native_bad_key.yaml":          `plugin RegexScheduling: args: `,
	"native_unknown_field.yaml":    `profiles[0].pluginConfig[0].args.anotation: unknown field: do you mean "annotation"?`,
	"no_exports.yaml":              "plugin WasmRegexScheduling: guest file://../testdata/guests/no_exports.wasm: wasm: guest does not export any plugin functions",
	"no_guest_url.yaml":            "plugin WasmRegexScheduling: profile default-scheduler enables it, but it is not compiled in, and no pluginConfig of the profile gives it a guestURL",
	"no_memory.yaml":               "plugin WasmRegexScheduling: guest file://../testdata/guests/no_memory.wasm: wasm: guest doesn't export memory[memory]",
	"not_multipoint.yaml":          "plugin WasmRegexScheduling: profile default-scheduler enables it under filter; a Wasm plugin must be enabled under multiPoint",
	"not_yaml.yaml":                "error converting YAML to JSON: yaml: line 1: did not find expected node content",
	"other_kind.yaml":              "apiVersion: is v1, but must be kubescheduler.config.k8s.io/v1; kind: is ConfigMap, but must be KubeSchedulerConfiguration",
	"scheme.yaml":                  "plugin WasmRegexScheduling: guest ftp://example.com/guest.wasm: the URL must begin with https://, http://, oci:// or file://",
	"shadows_in_tree.yaml":         "plugin NodeName: profile default-scheduler gives it a guestURL, but this name belongs to a plugin that is compiled in; choose another name",
	"shadows_native.yaml":          "plugin RegexScheduling: profile default-scheduler gives it a guestURL, but this name belongs to a plugin that is compiled in; choose another name",
	"start_trap.yaml":              "plugin WasmRegexScheduling: guest file://../testdata/guests/start_trap.wasm: failed to create a guest pool: wasm: _start error: wasm error: unreachable",
	"top_level_plugins.yaml":       `plugins: unknown field; pluginConfig: unknown field`,
	"trap_enqueue.yaml":            "plugin WasmRegexScheduling: guest file://../testdata/guests/trap_enqueue.wasm: wasm: enqueue error: wasm error: unreachable",
	"two_profiles.yaml":            "profiles[1].schedulerName: Duplicate value: profiles[0].schedulerName",
	"unknown_field.yaml":           `plugin WasmRegexScheduling: args: guestConfg: unknown field: do you mean "guestConfig"?`,
}

func TestEveryBadConfigStopsTheStartWithOneLine(t *testing.T) {
	files, err := filepath.Glob(configs + "bad/*")
	if err != nil || len(files) != len(badConfigs) {
		t.Fatalf("%d files for %d messages (%v)", len(files), len(badConfigs), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			wantRefusal(t, wasmhost.New(wasmhost.Options{Fetch: fetch.Fetcher{}.Fetch}), file, badConfigs[filepath.Base(file)])
		})
	}
}

// wantRefusal runs the command and wants nothing from it but one line, which
// begins with the file and want.
func wantRefusal(t *testing.T, host *wasmhost.Host, file, want string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(host, []string{"--config", file}, &stdout, &stderr)
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	if stdout.Len() > 0 {
		t.Errorf("on standard output: %s", &stdout)
	}
	line, rest, ended := strings.Cut(stderr.String(), "\n")
	want = "kube-scheduler: config " + file + ": " + want
	if !strings.HasPrefix(line, want) || want == "" {
		t.Errorf("got\n%s\nwant\n%s", line, want)
	}
	if !ended || rest != "" {
		t.Errorf("not one line: %q", stderr.String())
	}
}

func TestHelpAndVersion(t *testing.T) {
	for flag, want := range map[string]string{
		"--help":        "--leader-elect",
		"--version":     ", go1.",
		"--version=raw": "GitVersion:",
	} {
		t.Run(flag, func(t *testing.T) {
			out, err := command(t, flag, "--config", "no/such/file")
			if err != nil || !strings.Contains(out, want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestFlagThatDoesNotExistIsNamed(t *testing.T) {
	out, err := command(t, "--no-such-flag")
	if err == nil || !strings.HasSuffix(out, "kube-scheduler: unknown flag: --no-such-flag\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestConfigurationThatIsNotThereIsNamed(t *testing.T) {
	out, err := command(t, "--config", "no/such/file")
	if err == nil || out != "kube-scheduler: reading the configuration: open no/such/file: no such file or directory\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestKubeconfigWithoutAnEndIsAnError(t *testing.T) {
	config := filepath.Join(t.TempDir(), "scheduler.yaml")
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nclientConnection: {kubeconfig: /dev/zero}\n"
	testkit.Must(t, os.WriteFile(config, []byte(text), 0o600))
	for flag, file := range map[string]string{"--kubeconfig": "/dev/zero", "--authentication-kubeconfig": "/dev/zero", "--authorization-kubeconfig": "/dev/zero", "--config": config} {
		out, err := command(t, flag, file)
		if err == nil || !strings.HasSuffix(out, "kubeconfig: read /dev/zero: it has more than 1 MiB\n") {
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
