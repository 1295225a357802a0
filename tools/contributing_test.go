package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// onlyLooks has the commands of a page do nothing. Each says whether there is what it is
// about where it is run.
const onlyLooks = `set -e
make() { command make -n "$@" >/dev/null; }
git() { command git "$@" -n >/dev/null; }
go() { for arg; do case $arg in .*) test -d "${arg%...}" ;; esac; done; }
`

func TestTheCommandsForContributorsFindWhatTheyAreAbout(t *testing.T) {
	page, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	c := checkout{root: "..", path: bin + ":" + os.Getenv("PATH")}
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"), 0o755); err != nil { // nothing is asked of a registry
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^    .*\n`).FindAllString(string(page), -1)
	if len(commands) < 9 {
		t.Fatalf("only %q", commands)
	}
	c.must(t, onlyLooks+strings.Join(commands, ""))
}

func TestTheTableForContributorsHasEachModule(t *testing.T) {
	page, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := exec.CommandContext(t.Context(), "git", "-C", "..", "ls-files", "go.mod", "**/go.mod").Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.FieldsSeq(string(modules)) {
		if row := regexp.MustCompile("(?m)^\\|.*`" + regexp.QuoteMeta(filepath.Dir(file)) + "`.*\\| \\S"); !row.Match(page) {
			t.Errorf("no row for %s", file)
		}
	}
}
