package tools

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVulncheckFailsWhereItsDatabaseCannotBeRead(t *testing.T) {
	const unread = `echo 'govulncheck: fetching vulnerabilities: Get "https://vuln.go.dev/index/modules.json.gz": no such host' >&2; exit 1`
	const one = "echo 'Vulnerability #1: GO-2026-1'; exit 3"
	const allowed = "VULNERABILITIES_UNKNOWN=allowed"
	for _, test := range []struct {
		name, govulncheck, environment string
		fails                          bool
		says                           string
	}{
		{"nothing is found", "echo 'No vulnerabilities found.'", "", false, "No vulnerabilities found."},
		{"one is found", one, "", true, "GO-2026-1"},
		{"one is found, and not to know is allowed", one, allowed, true, "GO-2026-1"},
		{"the database cannot be read", unread, "", true, "no such host"},
		{"the database cannot be read, which is allowed", unread, allowed, false, "*** NOT CHECKED: vulnerabilities"},
		{"a package does not compile", "echo 'govulncheck: loading packages: a.go:1'; exit 1", allowed, true, "a.go:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := checkout{root: t.TempDir(), path: os.Getenv("PATH")}
			bin := filepath.Join(c.root, ".tools/bin")
			script, err := os.ReadFile("vulncheck.sh")
			must(t, errors.Join(err, os.MkdirAll(bin, 0o755), os.Mkdir(c.root+"/tools", 0o755),
				os.WriteFile(bin+"/govulncheck", []byte("#!/bin/sh\n"+test.govulncheck+"\n"), 0o755),
				os.WriteFile(c.root+"/tools/vulncheck.sh", script, 0o755)))
			said, err := c.try(t, test.environment+" tools/vulncheck.sh")
			if (err != nil) != test.fails || !strings.Contains(said, test.says) {
				t.Errorf("error %v, said: %s", err, said)
			}
		})
	}
}

// TestVulncheckOfCIMayNotPassUnread since it would go unnoticed.
func TestVulncheckOfCIMayNotPassUnread(t *testing.T) {
	workflows, err := filepath.Glob("../.github/workflows/*")
	if err != nil || len(workflows) == 0 {
		t.Fatal(workflows, err)
	}
	for _, file := range append(workflows, "../.ci/run", "../Makefile") {
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(text), "VULNERABILITIES_UNKNOWN") {
			t.Errorf("%s allows it, or %v", file, err)
		}
	}
}
