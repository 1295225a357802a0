package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestCommands runs the commands of each testdata/*/*.txtar in turn, with the files in it and beside it, and compares what they
// print. "# " begins a comment, "! " a line of stderr, which has no progress here; "…" is any text in a line, or any lines.
// What is asked of files with times in them has the same answer a year later.
func TestCommands(t *testing.T) {
	for _, path := range testkit.Files(t, "testdata/*/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			testkit.Must(t, err)
			now, yearOlder := t.TempDir(), t.TempDir()
			older := unpack(t, archive, filepath.Dir(path), now, yearOlder)
			for _, part := range strings.Split(string(archive.Comment), "\n$ simulator ")[1:] {
				command, want, _ := strings.Cut(part, "\n")
				want = comment.ReplaceAllString(want, "")
				got := printed(t, now, command)
				if !matches(got, want) {
					t.Errorf("%s prints\n%s\nwant\n%s", command, got, want)
				}
				if !older {
					continue
				}
				later := printed(t, yearOlder, command)
				if took.ReplaceAllString(later, "") != took.ReplaceAllString(got, "") {
					t.Errorf("%s prints\n%s\nand a year later\n%s", command, got, later)
				}
			}
		})
	}
}

// unpack writes all files for a transcript into two folders. All times in the second are a year older, if there are any. Exports
// are whole: what an input lacks is in TestAnInputThatLacksKindsIsNamedBelowTheAnswer.
func unpack(t *testing.T, archive *txtar.Archive, beside, now, yearOlder string) (older bool) {
	t.Helper()
	testkit.Must(t, os.CopyFS(now, os.DirFS(beside)))
	for _, file := range archive.Files {
		writeFile(t, now, file.Name, string(file.Data))
	}
	files, err := os.ReadDir(now)
	testkit.Must(t, err)
	for _, file := range files {
		text := string(testkit.ReadFile(t, filepath.Join(now, file.Name())))
		if strings.Contains("\n"+text, "\nnodes:") {
			text = whole(text)
			writeFile(t, now, file.Name(), text)
		}
		changed := timestamp.ReplaceAllStringFunc(text, func(at string) string {
			then, err := time.Parse(time.RFC3339, at)
			testkit.Must(t, err)
			return then.AddDate(-1, 0, 0).Format(time.RFC3339)
		})
		older = older || changed != text
		writeFile(t, yearOlder, file.Name(), changed)
	}
	return older
}

// whole adds to an export an empty list of each kind without a field, as of a cluster that has no such objects: of each that all
// versions of Kubernetes have.
func whole(export string) string {
	for field := range reflect.TypeFor[snapshot.Snapshot]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Type.Kind() == reflect.Slice && field.Name != "SchedulerConfig" && field.Name != "PodGroups" && !strings.Contains("\n"+export, "\n"+name+":") {
			export = name + ": []\n" + export
		}
	}
	return export
}

var (
	comment   = regexp.MustCompile(`(?m)^# .*\n?`)
	took      = regexp.MustCompile(` It took .*`)
	timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`)
	fileName  = regexp.MustCompile(`^[^/]+\.(json|gz|yaml)$`)
	progress  = regexp.MustCompile(`(?m)^ +[\d.]+s  .*\n`)
	trailing  = regexp.MustCompile(`(?m) +$`)
	lineStart = regexp.MustCompile(`(?m)^(.)`)
)

// printed is what a command prints whose files are in a folder.
func printed(t *testing.T, folder, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	args := strings.Fields(command)
	for i, arg := range args {
		if fileName.MatchString(arg) {
			args[i] = filepath.Join(folder, arg)
		}
	}
	var out, errOut bytes.Buffer
	status := run(ctx, args, &out, &errOut)
	text := out.String() + lineStart.ReplaceAllString(progress.ReplaceAllString(errOut.String(), ""), "! $1")
	if status != 0 {
		text += fmt.Sprintf("exit status %d\n", status)
	}
	if status == statusNone && out.Len() == 0 && strings.Contains(errOut.String(), ": schedules") {
		t.Errorf("%s is refused only after it has scheduled pods", command)
	}
	text = strings.ReplaceAll(text, ", as far as the input shows", "")
	return trailing.ReplaceAllString(strings.ReplaceAll(text, folder+"/", ""), "")
}

// matches reports whether a text is as a transcript has it.
func matches(got, want string) bool {
	pattern := regexp.QuoteMeta(strings.TrimRight(want, "\n")) + "\n"
	pattern = regexp.MustCompile(`(?m)^…\n`).ReplaceAllString(pattern, `(?:.*\n)*`)
	pattern = strings.ReplaceAll(pattern, "…", ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimRight(got, "\n") + "\n")
}
