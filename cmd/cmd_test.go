// Package cmd has the programs. Its test looks at what they have in common.
package cmd

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	extender "wasmkwokwizardry.io/regex-scheduling/extender/command"
	"wasmkwokwizardry.io/regex-scheduling/internal/guestcommand"
	"wasmkwokwizardry.io/regex-scheduling/internal/guestserver"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/kubectl"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	simulator "wasmkwokwizardry.io/regex-scheduling/simulator/command"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// programs are what each main runs.
var programs = map[string]func(ctx context.Context, args []string) int{
	"extender": func(ctx context.Context, args []string) int { return extender.Main(ctx, args, os.Stdout, os.Stderr) },
	"guest": func(ctx context.Context, args []string) int {
		wasmhost.CompileInChild()
		return guestcommand.Run(ctx, args, os.Stdout, os.Stderr)
	},
	"kubectl-regex": func(ctx context.Context, args []string) int {
		return kubectl.Run(ctx, args, genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	},
	"scheduler":        func(context.Context, []string) int { scheduler.Main(); return 0 },
	"simulator":        func(context.Context, []string) int { simulator.Main(); return 0 },
	"static-webserver": func(ctx context.Context, args []string) int { return guestserver.Main(ctx, args, os.Stdout, os.Stderr) },
}

// asProgram has the test binary be one of them.
const asProgram = "TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	program := programs[os.Getenv(asProgram)]
	if program != nil {
		os.Exit(program(context.Background(), os.Args[1:]))
	}
	os.Exit(m.Run())
}

func try(t *testing.T, program string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errOut strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"="+program, "KUBECONFIG=")
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run() // its status says it
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

func TestEveryProgramSaysWhatItIsAndWhatWasTypedWrongly(t *testing.T) {
	for program := range programs {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			_, version, _ := try(t, program, "version")
			if !strings.Contains(version, ", go1.") || strings.Count(version, "\n") != 1 {
				t.Errorf("version: %q", version)
			}
			for args, want := range map[string]struct {
				status         int
				stdout, stderr string
			}{
				"version":            {0, version, ""},
				"--version":          {0, version, ""},
				"--help":             {0, "\nExamples:\n", ""},
				"completion bash":    {0, "# bash completion", ""},
				"__complete --versi": {0, "--version", ""},
				"versoin":            {2, "", `unknown command "versoin"; did you mean version?`},
				"--no-such":          {2, "", "unknown flag: --no-such"},
				"version --no-such":  {2, "", "unknown flag: --no-such"},
			} {
				status, stdout, stderr := try(t, program, strings.Fields(args)...)
				if status != want.status || !strings.Contains(stdout, want.stdout) || !strings.Contains(stderr, want.stderr) || want.status == 2 && strings.Count(stderr, "\n") != 1 {
					t.Errorf("%s: exit status %d, want %v: %.400s %.400s", args, status, want, stdout, stderr)
				}
			}
		})
	}
}

// TestHelpFitsATerminal reads the help of all commands. kube-scheduler's has its own width.
func TestHelpFitsATerminal(t *testing.T) {
	for program := range programs {
		if program == "scheduler" {
			continue
		}
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			_, help, _ := try(t, program, "--help")
			_, list, _ := strings.Cut(help, "Available Commands:\n")
			list, _, _ = strings.Cut(list, "\n\n")
			for command := range strings.Lines("\n" + list) {
				name, _, _ := strings.Cut(strings.TrimSpace(command), " ")
				if name == "completion" {
					continue // cobra's
				}
				_, help, _ := try(t, program, strings.Fields(name+" --help")...)
				for line := range strings.Lines(help) {
					if len(line) > 81 && strings.Contains(strings.TrimSpace(line), " ") {
						t.Errorf("%s --help: %d columns: %s", name, len(line)-1, line)
					}
				}
				if strings.Contains(help, "=vX.Y.Z") {
					t.Errorf("%s --help has component-base's --version", name)
				}
			}
		})
	}
}

func TestEveryProgramIsTried(t *testing.T) {
	folders, err := os.ReadDir(".")
	testkit.Must(t, err)
	folders = slices.DeleteFunc(folders, func(f os.DirEntry) bool { return !f.IsDir() })
	for _, folder := range folders {
		if programs[folder.Name()] == nil {
			t.Errorf("%s is not tried", folder.Name())
		}
	}
}

func TestOnlyTheSimulatorLinksWhatIfs(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Name}} {{.ImportPath}} {{.Deps}}", "./...").Output()
	testkit.Must(t, err)
	for line := range strings.Lines(string(list)) {
		program, isProgram := strings.CutPrefix(line, "main ")
		program, links, _ := strings.Cut(program, " ")
		if isProgram && strings.Contains(links, "/internal/whatif") != strings.HasSuffix(program, "/simulator") {
			t.Errorf("%s links: %s", program, links)
		}
	}
	testkit.Equal(t, strings.Count("\n"+string(list), "\nmain "), len(programs), "programs among %s", list)
}

// bomb is a guest of 87 KB for which wazero takes gigabytes: 2,000 globals, which are in registers, and
// 20,000 calls, around each of which they are stored.
func bomb() []byte {
	number := func(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }
	sized := func(content ...[]byte) []byte {
		all := slices.Concat(content...)
		return append(number(len(all)), all...)
	}
	section := func(id byte, content ...[]byte) []byte { return append([]byte{id}, sized(content...)...) }
	var use []byte // global.get, i32.const 1, i32.add, global.set
	for i := range 2000 {
		use = slices.Concat(use, []byte{0x23}, number(i), []byte{0x41, 1, 0x6a, 0x24}, number(i))
	}
	code := slices.Concat(use, bytes.Repeat([]byte{0x10, 1}, 20_000), use, []byte{0x41, 0, 0x0b})
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, []byte{2, 0x60, 0, 1, 0x7f, 0x60, 0, 0}),
		section(3, []byte{2, 0, 1}),
		section(5, []byte{1, 0, 1}),
		section(6, number(2000), bytes.Repeat([]byte{0x7f, 1, 0x41, 0, 0x0b}, 2000)),
		section(7, []byte{2}, sized([]byte("memory")), []byte{2, 0}, sized([]byte("filter")), []byte{0, 0}),
		section(10, []byte{2}, sized([]byte{0}, code), sized([]byte{0, 0x0b})))
}

// Each program that hosts guests compiles them in a child, which dies alone.
func TestProgramOutlivesABomb(t *testing.T) {
	testkit.EmptyTemp(t)
	file := testkit.TempFile(t, "bomb.wasm", string(bomb()))
	config := testkit.TempFile(t, "config.yaml", `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Bomb}]}}
  pluginConfig: [{name: Bomb, args: {guestURL: "file://`+file+`"}}]
`)
	for program, args := range map[string][]string{
		"guest":     {"inspect", file},
		"scheduler": {"--config=" + config, "--kubeconfig=" + os.DevNull},
		"simulator": {"--config=" + config, "--port=0", "--data-dir=" + filepath.Join(t.TempDir(), "data")},
	} {
		status, _, stderr := try(t, program, args...)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		last := lines[len(lines)-1]
		if status == 0 || !strings.Contains(last, "guest file://"+file+": wasm: error compiling guest: the process that compiles it, which may take 768 MiB of memory, ended with exit status 2: ") {
			t.Errorf("%s: exit status %d: %.2000s", program, status, stderr)
		}
	}
}

func TestGuestThatAChildCompilesAnswersTheSame(t *testing.T) {
	pod := testkit.TempFile(t, "pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: web, annotations: {scheduler.wasmkwokwizardry.io/regex: '-[12]$'}}\n")
	nodes := testkit.TempFile(t, "nodes.yaml",
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: web-1}}\n- {apiVersion: v1, kind: Node, metadata: {name: web-3}}\n")
	for _, wasm := range []string{"../static/regex_v1.wasm", "../static/regex_v2.wasm"} {
		args := []string{"run", wasm, "--pod", pod, "--nodes", nodes}
		status, inChild, stderr := try(t, "guest", args...)
		var here, problems strings.Builder
		got := guestcommand.Run(context.Background(), args, &here, &problems)
		if got != status || here.String() != inChild || !strings.Contains(inChild, "\nweb-3") {
			t.Errorf("%s: in a child exit status %d %s%s, in this process %d %s%s", wasm, status, inChild, stderr, got, &here, &problems)
		}
	}
}
