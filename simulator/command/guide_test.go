package command

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/guestcommand"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// step is a command of a guide, and what the guide says that it prints.
type step struct{ command, prints string }

// chapter returns the steps of a chapter of a guide: its indented lines, with "$ "
// before each command.
func chapter(t *testing.T, file, title string) (steps []step) {
	t.Helper()
	_, rest, _ := strings.Cut(string(testkit.ReadFile(t, file)), "\n## "+title+"\n")
	body, _, _ := strings.Cut(rest, "\n## ")
	for line := range strings.Lines(body) {
		line, indented := strings.CutPrefix(line, "    ")
		command, ok := strings.CutPrefix(line, "$ ")
		if ok && indented {
			steps = append(steps, step{command: strings.TrimSpace(command)})
		} else if indented && len(steps) > 0 && !strings.HasPrefix(steps[len(steps)-1].command, "simulator") {
			steps[len(steps)-1].prints += line
		}
	}
	return steps
}

// TestGuideOnGuestsIsTrue does what docs/guests.md says to a new author,
// from "guest new" to a pod that the guest places in the simulator.
func TestGuideOnGuestsIsTrue(t *testing.T) {
	steps := chapter(t, "../../docs/guests.md", "In ten minutes, in Go")
	t.Setenv("GOFLAGS", "-buildvcs=false")
	t.Setenv("GOPROXY", "off")
	t.Chdir(t.TempDir())
	placed := false
	for _, step := range steps {
		program, rest, _ := strings.Cut(step.command, " ")
		var out bytes.Buffer
		failed := false
		switch program {
		case "cd":
			t.Chdir(rest)
		case "guest":
			failed = guestcommand.Run(t.Context(), strings.Fields(rest), &out, &out) != 0
		case "simulator":
			session(t, strings.Fields(rest), func(base string) {
				testkit.Eventually(t, "the guest places the pod", func(context.Context) error {
					on := where(t, base)["default/db"]
					if on != "fast Running" {
						return fmt.Errorf("it is on %q", on)
					}
					return nil
				})
				_, attempts := get(t, base+"/api/v1/pods/default/db/attempts")
				placed = strings.Contains(attempts, "node(s) had no disk of the kind nvme")
				if !placed {
					t.Errorf("the guest's reason for slow is missing: %s", attempts)
				}
			})
		default:
			shell := exec.CommandContext(t.Context(), "sh", "-c", step.command)
			shell.Stdout, shell.Stderr = &out, &out
			failed = shell.Run() != nil
		}
		if failed || (step.prints != "" && out.String() != step.prints) {
			t.Fatalf("%s\nprints:\n%s\nshould print:\n%s", step.command, &out, step.prints)
		}
	}
	if !placed {
		t.Errorf("the chapter places no pod: %v", steps)
	}
}
