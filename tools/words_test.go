package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWordsAreFoundInsideIdentifiers(t *testing.T) {
	c := checkout{root: t.TempDir(), path: os.Getenv("PATH")}
	must(t, copyInto(c.root, "tools"))
	for line, want := range map[string]string{
		"func TestPodIsRecreated(t *testing.T) {":           "",
		"func TestPodIsMadeAnew(t *testing.T) {":            "recreate",
		"func TestJobThatIsPushedOut(t *testing.T) {":       "preempt",
		"var made_anew bool":                                "recreate",
		"// Renewed leases stay.":                           "",
		"\t// As an indented comment, nobody reads it.":     "none, no one",
		"// Package p calls a function. It is no API.":      "a folder internal/",
		"// plural: these are those that were turned down.": "reject",
	} {
		write(t, filepath.Join(c.root, "p.go"), []byte("package p\n\n"+line+"\n"))
		said, err := c.try(t, "git init -q . && git add . && tools/words.sh p.go")
		if (err != nil) != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: error %v, want %q: %s", line, err, want, said)
		}
	}
}
