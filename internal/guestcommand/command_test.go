package guestcommand

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

const guests = "../../testdata/guests/"

func try(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	status = Run(t.Context(), args, &o, &e)
	return status, o.String(), e.String()
}

// inFolder makes files in a new folder, and goes there.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	t.Chdir(dir)
}

func TestNewGuestIsBuiltTestedAndDecides(t *testing.T) {
	for language, args := range map[string][]string{"go": {"disk"}, "rust": {"disk", "--language", "rust"}} {
		t.Run(language, func(t *testing.T) {
			if language == "rust" {
				needsRust(t)
			}
			inFolder(t, nil)
			status, out, errOut := try(t, append([]string{"new"}, args...)...)
			if status != 0 || !strings.Contains(out, "cd disk\n  make\n") {
				t.Fatalf("status %d: %s%s", status, out, errOut)
			}
			t.Chdir("disk")
			build(t)
			status, out, errOut = try(t, "run", "disk.wasm", "--pod", "pod.yaml", "--nodes", "nodes.yaml", "--expect", "fast")
			want := "NODE   SCORE   VERDICT\n" +
				"fast           Success\n" +
				"slow           UnschedulableAndUnresolvable: node(s) had no disk of the kind nvme\n"
			if status != 0 || out != want {
				t.Errorf("status %d: %s%s", status, out, errOut)
			}
		})
	}
}

// build runs make in the folder of a new guest.
func build(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make")
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-buildvcs=false", "GOWORK=off", "RUSTC="+rustc)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

func TestNewMakesNothingOfWhatItCannot(t *testing.T) {
	inFolder(t, nil)
	testkit.Must(t, os.Mkdir("there", 0o755))
	for args, want := range map[string]string{
		"there":                  "exists",
		"../disk":                "small letters",
		"disk --language python": `--language: invalid value "python": use go or rust`,
	} {
		status, _, errOut := try(t, append([]string{"new"}, strings.Fields(args)...)...)
		if status != 2 || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, want %q: %s", args, status, want, errOut)
		}
	}
	_, err := os.Stat("disk")
	if !os.IsNotExist(err) {
		t.Errorf("a folder was made: %v", err)
	}
}

// TestExampleIsWhatNewMakes keeps examples/go-filter what its README says it is.
func TestExampleIsWhatNewMakes(t *testing.T) {
	for _, file := range []string{"go/main.go", "go/main_test.go", "both/pod.yaml", "both/nodes.yaml"} {
		made, err := templates.ReadFile("new/" + file + ".txt")
		testkit.Must(t, err)
		is, err := os.ReadFile("../../examples/go-filter/" + path.Base(file))
		testkit.Must(t, err)
		if strings.ReplaceAll(string(made), "NAME", "disk") != string(is) {
			t.Errorf("%s is not what guest new makes", file)
		}
	}
}

const (
	aPod  = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
	nodes = "apiVersion: v1\nkind: Node\nmetadata: {name: gpu-1}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: web-1}\n"
	gpu   = "apiVersion: v1\nkind: Node\nmetadata: {name: gpu-1}\n"
)

func TestRunSaysWithItsStatusWhetherThePodFindsItsNodes(t *testing.T) {
	wasm, err := filepath.Abs("../../examples/wat/not_gpu.wasm")
	testkit.Must(t, err)
	inFolder(t, map[string]string{
		"pod.yaml": aPod, "nodes.yaml": nodes, "gpu.yaml": gpu, "typo.yaml": strings.Replace(aPod, "metadata: {", "metadata: {anotations: {}, ", 1),
		"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
	})
	for _, tt := range []struct {
		args   string
		status int
		said   string
	}{
		{"--nodes nodes.yaml", 0, "gpu-1"},
		{"--nodes nodes.yaml --pod pod.yaml --expect web-1", 0, "node(s) were for GPUs only"},
		{"--nodes nodes.yaml --expect gpu-1,web-1", 1, `left are ["web-1"], but should be ["gpu-1" "web-1"]`},
		{"--nodes gpu.yaml", 1, "node(s) were for GPUs only"},
		{"--nodes pod.yaml", 2, "--nodes pod.yaml: has no node"},
		{"--nodes nodes.yaml --pod gpu.yaml", 2, "--pod gpu.yaml: has 0 pods, but one is asked about"},
		{"--nodes none.yaml", 2, "none.yaml"},
		{"--nodes nodes.yaml --pod typo.yaml", 2, `typo.yaml: Pod web: strict decoding error: unknown field "metadata.anotations"`},
		{"--nodes nodes.yaml --pod secret.yaml", 2, "secret.yaml: Secret a: neither a pod nor a node"},
		{"--nodes gpu-1,web-1 --expect web-1", 0, "web-1           Success\n"},
		{"--nodes none/nodes", 2, "none/nodes"},
		{"--nodes a --annotation b", 2, "--annotation b: use KEY=VALUE"},
		{"", 2, `required flag(s) "nodes" not set`},
	} {
		status, out, errOut := try(t, append([]string{"run", wasm}, strings.Fields(tt.args)...)...)
		if status != tt.status || !strings.Contains(out+errOut, tt.said) {
			t.Errorf("%s: status %d, want %d with %q: %s%s", tt.args, status, tt.status, tt.said, out, errOut)
		}
		if status == 2 && strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: not one line: %s", tt.args, errOut)
		}
	}
}

func TestRunAsksReserveAndPermitAboutTheNodeWithTheHighestScore(t *testing.T) {
	wasm, err := filepath.Abs(guests + "chosen.wasm")
	testkit.Must(t, err)
	inFolder(t, map[string]string{"nodes.yaml": strings.ReplaceAll(nodes, "web-1", "web-2")})
	for config, want := range map[string]struct {
		status int
		said   string
	}{
		"":  {0, "Reserve on web-2: Success\nPermit on web-2: Success\n"},
		"w": {0, "Reserve on web-2: Success\nPermit on web-2: Wait, for 1.5s at most\n"},
		"r": {1, "Reserve on web-2: Unschedulable: taken\n"},
		"t": {1, "Reserve on web-2: Success\nPermit on web-2: Unschedulable: taken\n"},
	} {
		status, out, errOut := try(t, "run", wasm, "--nodes", "nodes.yaml", "--guest-config", config)
		if status != want.status || !strings.HasSuffix(out, want.said) {
			t.Errorf("%q: status %d: %s%s", config, status, out, errOut)
		}
		unreserved := strings.Contains(errOut, "unreserved")
		if unreserved != (status == 1) {
			t.Errorf("%q: Unreserve was called: %v", config, unreserved)
		}
	}
	status, out, _ := try(t, "run", wasm, "--nodes", "nodes.yaml", "--guest-config", "t", "--expect", "gpu-1,web-2")
	if status != 0 {
		t.Errorf("with --expect: status %d: %s", status, out)
	}
}

func TestRunNeedsNoFiles(t *testing.T) {
	const key = "--annotation=scheduler.wasmkwokwizardry.io/regex"
	for want, more := range map[string][]string{
		"a,aa": {key + "=^a{1,2}=?$"},
		"aa":   {key + "=a", key + "-exclude=^a$", "--pod", "../../examples/go-pod/pod.yaml"},
	} {
		status, out, errOut := try(t, append(more, "run", "../../static/regex_v2.wasm", "--nodes", "a,b,aa", "--expect", want)...)
		if status != 0 {
			t.Errorf("%q: status %d: %s%s", more, status, out, errOut)
		}
	}
}

func TestRunLogsAnErrorOnce(t *testing.T) {
	_, out, errOut := try(t, "run", guests+"decides_by_trap.wasm", "--nodes", "../../examples/wat/nodes.yaml")
	if strings.Count(errOut, "Wasm guest trapped") != 1 {
		t.Errorf("%s%s", out, errOut)
	}
}

func TestRunHasNoWaitingPods(t *testing.T) {
	_, out, errOut := try(t, "run", guests+"filter_allow.wasm", "--nodes", "../../examples/wat/nodes.yaml")
	if strings.Contains(out, "Error") || !strings.Contains(out, "Unschedulable") {
		t.Errorf("%s%s", out, errOut)
	}
}

func TestBadGuestsAreReportedAsByTheScheduler(t *testing.T) {
	for guest, want := range map[string]string{
		guests + "nope.wasm":            "no such file or directory",
		guests + "empty_filter.wat":     "not a Wasm module",
		"-":                             "-: a guest is not read from standard input: give a file or a URL",
		guests + "no_exports.wasm":      "does not export any plugin functions",
		guests + "wrong_signature.wasm": "wrong signature for func[filter]",
	} {
		status, _, errOut := try(t, "inspect", guest)
		if status != 2 || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: status %d, want one line with %q: %s", guest, status, want, errOut)
		}
	}
}

func TestInspectShowsWhatTheHostMakesOfAGuest(t *testing.T) {
	for guest, want := range map[string][]string{
		"../../static/regex_v2.wasm":         {`decides by +pod\.metadata\.annotations.*node\.metadata\.name\n`, `remembered +yes`, `imports .*k8s\.io/scheduler currentPod`, `memory +[1-9]\.`},
		guests + "error_filter.wasm":         {`remembered +the guest does not declare what it decides by`, `decides by +it does not say`},
		guests + "filter_permit_active.wasm": {`instances +1: it takes part in reserve, permit or binding`, `exports .*permit`},
		guests + "filter_and_score.wasm":     {`instances +1: it filters and scores`},
	} {
		status, out, errOut := try(t, "inspect", guest)
		for _, line := range want {
			if status != 0 || !regexp.MustCompile(line).MatchString(out) {
				t.Errorf("%s: status %d, no %q in\n%s%s", guest, status, line, out, errOut)
			}
		}
	}
}

// Nothing of a guest, a file or a URL controls the terminal, forges a row, or shows a password.
func TestWhatOthersWroteIsPrintable(t *testing.T) {
	forged, err := filepath.Abs(guests + "forged.wasm")
	testkit.Must(t, err)
	inFolder(t, map[string]string{
		"nodes.yaml":  "apiVersion: v1\nkind: Node\nmetadata: {name: \"n\\e[2J\\nn2  Success\"}\n",
		"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: \"a\\e[2J\\nguest: fine\"}\n",
	})
	for args, want := range map[string]string{
		"inspect " + forged:                                           "exports     a[2J; size        1 byte, decides_by, filter\n",
		"run " + forged + " --nodes nodes.yaml":                       "NODE                SCORE   VERDICT\nn[2J; n2  Success           Success\n",
		"run " + forged + " --nodes secret.yaml":                      "guest: secret.yaml: Secret a[2J\n  guest: fine: neither a pod nor a node\n",
		"inspect oci://me:secret@ghcr.io/x:1":                         "guest: plugin Guest: guest oci://…: the URL must be oci://registry/name:tag",
		"inspect oci://me:sec/ret@ghcr.io/x:1":                        "guest oci://…: the URL must be",
		"inspect HTTPS://me:secret@example.com/x":                     "guest HTTPS://…: the URL must begin with https://",
		"inspect https://me:se/cret@example.com/x":                    "guest https://…: not a valid URL: write special characters of a password as %XX\n",
		"inspect http://me:secret@127.0.0.1:1/guest.wasm?token=1#key": "guest http://xxxxx@127.0.0.1:1/guest.wasm?xxxxx#xxxxx: dial tcp",
	} {
		_, out, errOut := try(t, strings.Fields(args)...)
		said := out + errOut
		if !strings.Contains(said, want) || strings.Contains(said, "\x1b") || strings.Contains(said, "secret@") || strings.Contains(said, "cret@") || strings.Contains(said, "token") {
			t.Errorf("%s: no %q in\n%q", args, want, said)
		}
	}
}

// A pipe without a writer, a folder and a device do not stop the program for good.
func TestRunReadsNoFileForEver(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	testkit.Must(t, syscall.Mkfifo(pipe, 0o600))
	for file, want := range map[string]string{pipe: "nothing was written into this pipe", dir: "is a directory", "/dev/zero": "more than 1 MiB"} {
		status, _, errOut := try(t, "run", guests+"empty_filter.wasm", "--nodes", "n", "--pod", file)
		if status != 2 || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, want %q: %s", file, status, want, errOut)
		}
	}
}
