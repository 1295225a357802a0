package tools

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// action is what the steps of action.yml see of a machine.
type action struct {
	folder string
	env    []string
}

func newAction(t *testing.T, simulator string) action {
	t.Helper()
	folder := t.TempDir()
	name := "simulator-" + runtime.GOOS + "-" + runtime.GOARCH
	write(t, filepath.Join(folder, name), []byte(simulator))
	write(t, filepath.Join(folder, "SHA256SUMS"), fmt.Appendf(nil, "%x  %s\n%x  other\n", sha256.Sum256([]byte(simulator)), name, 0))
	gh := "#!/bin/sh\necho \"$*\" >>" + folder + "/calls\nfor arg; do case $arg in body=@*) cp \"${arg#body=@}\" " + folder + "/comment ;; esac; done\n" +
		"case $* in *--paginate*) cat " + folder + "/id ;; esac\n"
	write(t, filepath.Join(folder, "id"), nil)
	must(t, errors.Join(os.Mkdir(filepath.Join(folder, "bin"), 0o755), os.WriteFile(filepath.Join(folder, "bin", "gh"), []byte(gh), 0o755)))
	return action{folder, []string{
		"PATH=" + filepath.Join(folder, "bin") + ":" + os.Getenv("PATH"), "GITHUB_STEP_SUMMARY=" + filepath.Join(folder, "summary"),
		"GITHUB_REPOSITORY=o/r", "PULL_REQUEST=7", "GH_TOKEN=t", "DOWNLOADS=file://" + folder,
		"CLUSTER=c.yaml", "BEFORE=a.yaml", "AFTER=b.yaml", "FAIL_ON=lost,moved", "PODS=all",
	}}
}

// run runs the script of the action's only step.
func (a action) run(t *testing.T, environment ...string) (said string, status int) {
	t.Helper()
	_, block, found := strings.Cut(string(contentOf(t, "../action.yml")), "      run: |\n")
	if !found {
		t.Fatal("action.yml has no script")
	}
	command := exec.CommandContext(t.Context(), "bash", "-c", regexp.MustCompile(`(?m)^ {8}`).ReplaceAllString(block, ""))
	command.Env = append(append(os.Environ(), a.env...), environment...)
	out, _ := command.CombinedOutput()
	return string(out), command.ProcessState.ExitCode()
}

func TestActionCommentsAndFails(t *testing.T) {
	for _, tt := range []struct {
		name, simulator, id, call, comment string
		status                             int
	}{
		{"a new comment", "echo \"$*\"", "", "--method POST repos/o/r/issues/7/comments", "compare --cluster c.yaml --a a.yaml --b b.yaml --pods all --fail-on lost,moved", 0},
		{"the comment of before", "echo moved; exit 1", "42", "--method PATCH repos/o/r/issues/comments/42", "moved\n", 1},
		{"no comparison", "echo 'side A: bad' >&2; exit 2", "", "--method POST", "There was no comparison:\n\n```\nside A: bad\n```\n", 2},
		{
			"a key of a configuration that would end the code block", "printf 'unknown field \"a\n````\n[click](http://evil.example)\"\n' >&2; exit 2", "", "--method POST",
			"\n```````\nunknown field \"a\n````\n[click](http://evil.example)\"\n```````\n", 2,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAction(t, "#!/bin/sh\n"+tt.simulator+"\n")
			write(t, filepath.Join(a.folder, "id"), []byte(tt.id))
			said, status := a.run(t)
			if status != tt.status {
				t.Errorf("status %d, want %d:\n%s", status, tt.status, said)
			}
			for file, want := range map[string]string{"calls": tt.call, "comment": tt.comment, "summary": tt.comment} {
				got := string(contentOf(t, filepath.Join(a.folder, file)))
				if !strings.Contains(got, want) {
					t.Errorf("%s has\n%s\nnot %q", file, got, want)
				}
			}
		})
	}
}

// The server has folders, as releases of GitHub have.
func TestActionDownloadsItsOwnRelease(t *testing.T) {
	a := newAction(t, "#!/bin/sh\necho compared\n")
	release := filepath.Join(a.folder, "o", "action", "releases", "download")
	must(t, errors.Join(os.MkdirAll(release, 0o755), os.Symlink(a.folder, filepath.Join(release, "v1.2.3"))))
	for _, tt := range []struct {
		action, ref, want string
		status            int
	}{
		{"o/action", "v1.2.3", "", 0},
		{"o/action", "main", "::error::there is no release of o/action@main: use the action at the tag of one", 2},
		{"", "", "::error::there is no release of", 2}, // uses: ./
	} {
		said, status := a.run(t, "DOWNLOADS=", "GITHUB_SERVER_URL=file://"+a.folder, "ACTION="+tt.action, "TAG="+tt.ref)
		if status != tt.status || !strings.Contains(said, tt.want) {
			t.Errorf("%s@%s: status %d, want %d and %q:\n%s", tt.action, tt.ref, status, tt.status, tt.want, said)
		}
	}
}

func TestActionRunsNothingThatIsNotTheRelease(t *testing.T) {
	a := newAction(t, "#!/bin/sh\nexit 0\n")
	write(t, filepath.Join(a.folder, "simulator-"+runtime.GOOS+"-"+runtime.GOARCH), []byte("#!/bin/sh\ntouch ran\n"))
	said, status := a.run(t)
	if status == 0 || !strings.Contains(said, "FAILED") {
		t.Errorf("status %d:\n%s", status, said)
	}
	if _, err := os.Stat(filepath.Join(a.folder, "calls")); err == nil {
		t.Error("it called gh")
	}
}
