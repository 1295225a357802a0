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

func TestCommandsForContributorsFindWhatTheyAreAbout(t *testing.T) {
	bin := t.TempDir()
	c := checkout{root: "..", path: bin + ":" + os.Getenv("PATH")}
	must(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"), 0o755)) // nothing is asked of a registry
	commands := regexp.MustCompile(`(?m)^    .*\n`).FindAllString(string(contentOf(t, "../CONTRIBUTING.md")), -1)
	if len(commands) < 9 {
		t.Fatalf("only %q", commands)
	}
	c.must(t, onlyLooks+strings.Join(commands, ""))
}

func TestTableForContributorsHasEachModule(t *testing.T) {
	page := contentOf(t, "../CONTRIBUTING.md")
	modules, err := exec.CommandContext(t.Context(), "git", "-C", "..", "ls-files", "go.mod", "**/go.mod").Output()
	must(t, err)
	for file := range strings.FieldsSeq(string(modules)) {
		row := regexp.MustCompile("(?m)^\\|.*`" + regexp.QuoteMeta(filepath.Dir(file)) + "`.*\\| \\S")
		if !row.Match(page) {
			t.Errorf("no row for %s", file)
		}
	}
}

// TestModulesOfKubernetesHaveOneVersion fails where dependabot has raised
// k8s.io/kubernetes: it does not touch what a module file replaces.
func TestModulesOfKubernetesHaveOneVersion(t *testing.T) {
	files, err := filepath.Glob("kubernetes/*.mod")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../go.mod") {
		text := contentOf(t, file)
		kubernetes := regexp.MustCompile(`(?m)^\tk8s\.io/kubernetes v1\.(\S+)$`).FindSubmatch(text)
		replaced := regexp.MustCompile(`(?m)=> (k8s\.io/\S+) v0\.(\S+)$`).FindAllSubmatch(text, -1)
		if len(kubernetes) == 0 || len(replaced) < 30 {
			t.Errorf("%s: Kubernetes is %q, and only %d modules are pinned with it", file, kubernetes, len(replaced))
		}
		for _, module := range replaced {
			if string(module[2]) != string(kubernetes[1]) {
				t.Errorf("%s: %s is v0.%s, and Kubernetes v1.%s: raise it by hand, as in CONTRIBUTING.md", file, module[1], module[2], kubernetes[1])
			}
		}
	}
}
