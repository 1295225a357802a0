// Package tools holds the scripts that install the toolchain and build the
// guests; the only Go in it tests them.
package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// copyTree copies what the record of the guests is about, and the scripts.
func copyTree(t *testing.T) checkout {
	t.Helper()
	c := checkout{root: t.TempDir(), path: os.Getenv("PATH")}
	for _, folder := range []string{"guest", "regex", "v1", "v2", "static", "tools"} {
		must(t, copyInto(c.root, folder))
	}
	return c
}

// verifies runs a check of a tree. It must fail with want in its output, or pass if there is none.
func (c checkout) verifies(t *testing.T, spoil, check string, want []string) {
	t.Helper()
	c.must(t, spoil)
	said, err := c.try(t, check)
	if (err != nil) != (len(want) > 0) {
		t.Errorf("error %v, output:\n%s", err, said)
	}
	for _, line := range want {
		if !strings.Contains(said, line) {
			t.Errorf("output lacks %q:\n%s", line, said)
		}
	}
}

func TestVerifyGuestsComparesEveryByte(t *testing.T) {
	const folders = "for f in committed first second; do mkdir $f && cp static/*.wasm $f || exit; done; "
	for name, test := range map[string]struct {
		spoil string
		want  []string
	}{
		"the same bytes pass":                               {"true", nil},
		"a changed byte in a committed guest is found":      {"printf x >>committed/regex_v2.wasm", []string{"regex_v2.wasm is not what its source builds to", "sha256"}},
		"a folder's name in one of the two builds is found": {"printf x >>second/regex_v1.wasm", []string{"regex_v1.wasm is not what its source builds to", "in second"}},
		"a missing guest is reported":                       {"rm committed/regex_v1.wasm", []string{"regex_v1.wasm", "committed: missing"}},
		"a guest that was not built is reported":            {"rm first/regex_v2.wasm", []string{"regex_v2.wasm", "rebuilt:   missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			copyTree(t).verifies(t, folders+test.spoil, "tools/verify-guests.sh compare committed first second", test.want)
		})
	}
}

func TestVerifyGuestsComparesWithTheRecord(t *testing.T) {
	for name, test := range map[string]struct {
		spoil string
		want  []string
	}{
		"what is committed passes":                           {"true", nil},
		"tests do not go into a guest":                       {"echo package guest >guest/new_test.go", nil},
		"a changed source is found":                          {"echo >>regex/policy.go", []string{"regex/policy.go has changed"}},
		"another version of what goes into a guest is found": {"echo >>v2/go.sum", []string{"v2/go.sum has changed"}},
		"a changed guest is found":                           {"echo >>static/regex_v1.wasm", []string{"static/regex_v1.wasm has changed"}},
		"another recipe is found":                            {"echo >>tools/guest.json", []string{"tools/guest.json has changed"}},
		"a new source is found":                              {"echo package guest >guest/new.go", []string{"guest/new.go is new"}},
		"a new guest is found":                               {"echo >static/regex_v3.wasm", []string{"static/regex_v3.wasm is new"}},
		"a deleted source is found":                          {"rm v1/main.go", []string{"v1/main.go is gone"}},
		"a missing record is reported":                       {"rm static/sources.txt", []string{"static/sources.txt is missing"}},
		"all that differs is reported":                       {"echo >>v1/main.go; echo >>v2/main.go", []string{"v1/main.go has changed", "v2/main.go has changed"}},
	} {
		t.Run(name, func(t *testing.T) {
			copyTree(t).verifies(t, test.spoil, "tools/verify-guests.sh recorded", test.want)
		})
	}
}

// The record is what sha256sum -c reads, for those who trust no script of ours.
func TestRecordIsReadBySha256sum(t *testing.T) {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		notTested(t, "no sha256sum: install coreutils")
	}
	checkout{root: "..", path: os.Getenv("PATH")}.must(t, "sha256sum -c --quiet static/sources.txt")
}

// Without TinyGo the record decides, and that nothing was rebuilt is reported; a
// TinyGo that does not build is no reason to pass.
func TestVerifyGuestsWithoutTinyGo(t *testing.T) {
	for name, test := range map[string]struct {
		status, spoil string
		passes        bool
		want          string
	}{
		"it cannot be had":       {"3", "true", true, "NOT REBUILT"},
		"it does not build":      {"1", "true", false, ""},
		"the source has changed": {"3", "echo >>regex/rules.go", false, "regex/rules.go has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			c := copyTree(t)
			write(t, filepath.Join(c.root, "tools/install.sh"), []byte("#!/bin/sh\nexit "+test.status+"\n"))
			c.must(t, test.spoil)
			said, err := c.try(t, "tools/verify-guests.sh")
			if (err == nil) != test.passes || !strings.Contains(said, test.want) {
				t.Errorf("error %v, want %q in the output:\n%s", err, test.want, said)
			}
		})
	}
}
