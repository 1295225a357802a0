package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestREADMEsQuestionsAreAnsweredAsItSays runs the commands of README's part about a copy of a cluster, as a reader would, and a question of
// docs/capacity.md to the same cluster. Lines below a command stand in its output, in this order.
func TestREADMEsQuestionsAreAnsweredAsItSays(t *testing.T) {
	root, err := filepath.Abs("../..")
	testkit.Must(t, err)
	_, part, _ := strings.Cut(string(testkit.ReadFile(t, filepath.Join(root, "README.md"))), "\n## Ask a copy of a cluster\n")
	part, _, _ = strings.Cut(part, "\n## ")
	_, rollout, _ := strings.Cut(string(testkit.ReadFile(t, filepath.Join(root, "docs/capacity.md"))), "\n### Will my rollout end?\n")
	rollout, _, _ = strings.Cut(rollout, "\n### ")
	part += rollout
	dir := t.TempDir()
	testkit.Must(t, os.Symlink(filepath.Join(root, "examples"), filepath.Join(dir, "examples")))
	t.Chdir(dir)
	var answer string
	asked, compared := 0, 0
	for line := range strings.Lines(part) {
		line, isCode := strings.CutPrefix(line, "    ")
		line = strings.TrimRight(line, "\n")
		question, isQuestion := strings.CutPrefix(line, "$ bin/simulator ")
		switch {
		case !isCode || line == "…" || strings.HasPrefix(line, "make "):
		case isQuestion:
			asked++
			answer = answerTo(t, strings.Fields(question))
		case strings.HasPrefix(line, "awk "):
			shell(t, ".", line)
		case strings.HasPrefix(line, "GOOS="):
			shell(t, root, strings.Replace(line, "-o ", "-o "+dir+"/", 1))
		default:
			compared++
			_, after, found := strings.Cut(answer, strings.TrimSuffix(line, " …"))
			if !found {
				t.Errorf("README says %q; the answer goes on with:\n%s", line, answer)
			}
			answer = after
		}
	}
	if asked < 3 || compared < 12 {
		t.Errorf("only %d questions and %d lines of answers were found", asked, compared)
	}
}

// answerTo is what the simulator prints.
func answerTo(t *testing.T, args []string) string {
	t.Helper()
	var out, errs bytes.Buffer
	status := run(t.Context(), args, &out, &errs)
	if status > 1 {
		t.Fatalf("simulator %q ends with %d: %s", args, status, &errs)
	}
	return out.String()
}

func shell(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}
