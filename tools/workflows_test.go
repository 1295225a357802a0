package tools

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestJobWithOthersCodeMayNotWrite: what a job builds or runs has the job's rights, and the
// credentials that a checkout leaves behind.
func TestJobWithOthersCodeMayNotWrite(t *testing.T) {
	files, _ := filepath.Glob("../.github/workflows/*.yml")
	jobs, writers := 0, 0
	for _, file := range files {
		text := string(contentOf(t, file))
		if !regexp.MustCompile(`(?m)^permissions:(\n  contents: read$| \{\}$)`).MatchString(text) {
			t.Errorf("%s gives its jobs more rights than to read", file)
		}
		kept := strings.Count(text, "actions/checkout@") - strings.Count(text, "          persist-credentials: false\n")
		if kept != 0 {
			t.Errorf("%s: %d checkouts leave their credentials behind", file, kept)
		}
		_, all, _ := strings.Cut(text, "\njobs:\n")
		for _, job := range regexp.MustCompile(`(?m)^  [a-z-]+:\n`).Split(all, -1)[1:] {
			jobs++
			if !strings.Contains(job, ": write") {
				continue
			}
			writers++
			builds := regexp.MustCompile(`actions/(checkout|setup-go)@|(make|go) [a-z]|bin/`).FindString(job)
			if builds != "" {
				t.Errorf("%s: a job may write, and has %q:\n%s", file, builds, job)
			}
		}
	}
	if jobs < 10 || writers < 2 {
		t.Errorf("of %d jobs, %d may write", jobs, writers)
	}
}
