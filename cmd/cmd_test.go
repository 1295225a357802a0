// Package cmd has the programs. Its test looks at what they have in common.
package cmd

import (
	"context"
	"os"
	"os/exec"
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
	if strings.Count("\n"+string(list), "\nmain ") != len(programs) {
		t.Errorf("other programs are listed: %s", list)
	}
}
