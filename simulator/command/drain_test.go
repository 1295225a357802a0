package command

import (
	"bytes"
	"context"
	"errors"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// A file's name is anything; an API server validates those of nodes. The command is taken from each format, of Markdown from its source, and run with a simulator that
// prints its arguments.
func TestShrinkQuotesTheCommandThatItPrints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a_folder *1*")
	testkit.Must(t, os.Mkdir(dir, 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "simulator"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o700))
	spare := strings.Replace(string(testkit.ReadFile(t, drainable)), "\npods:", "\n- metadata: {name: spare}\n  status: {allocatable: *small}\npods:", 1)
	for _, name := range []string{"n1;touch owned", "$(touch owned)", "a'b`touch owned`", "x'; touch owned; echo '", "a_b  *c* ```` d", "--force"} {
		cluster := writeFile(t, dir, name+".yaml", spare)
		for format, command := range map[string]string{
			"table": "(?m)^simulator drain .*$", "markdown": "(?m)^simulator drain .*$", "html": "simulator drain [^<]*",
		} {
			status, out, errOut := here(t, "shrink", "--cluster", cluster, "-o", format)
			found := regexp.MustCompile(command).FindString(out)
			if format == "html" { // as it is shown
				found = html.UnescapeString(found)
			}
			if status != 0 || found == "" {
				t.Fatalf("status %d: %s %s", status, out, errOut)
			}
			shell := exec.Command("sh", "-c", found)
			shell.Dir, shell.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			read, err := shell.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(read), "drain\n--cluster="+cluster+"\n") || !strings.Contains(string(read), "\nspare\n") {
				t.Errorf("%s: a shell reads %s as %s (%v)", format, found, read, err)
			}
			_, err = os.Stat(filepath.Join(dir, "owned"))
			if err == nil {
				t.Fatalf("%s: %s runs a command of the file's", format, found)
			}
		}
	}
}

// A signal ends each what-if, and nothing is left behind.
func TestWhatIfsEndAfterASignal(t *testing.T) {
	testkit.EmptyTemp(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	for _, command := range []string{"compare --a none --b v2 --pods all", "fit -f testdata/commands/both.yaml", "shrink"} {
		var out bytes.Buffer
		status := run(ctx, append(strings.Fields(command), "--cluster", drainable), &out, &out)
		if status != statusInterrupted || !strings.HasSuffix(out.String(), "simulator: interrupted\n") {
			t.Errorf("%s ended with %d: %s", command, status, &out)
		}
	}
}
