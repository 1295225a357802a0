package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/bench/report"
)

func TestStartsAreMeasuredAndWrittenDown(t *testing.T) {
	out := t.TempDir()
	page := filepath.Join(out, "page.md")
	if err := os.WriteFile(page, []byte("before\n"+beginMark+"old\n"+endMark+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"-quick", "-parts", "start", "-floors", "../testdata/bench", "-out", out, "-doc", page}, &stdout, &stderr)
	if code != 0 || !strings.Contains(stdout.String(), "v2's size") {
		t.Fatalf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	text, err := os.ReadFile(page)
	if err != nil || strings.Contains(string(text), "old") || !strings.HasPrefix(string(text), "before\n") || !strings.HasSuffix(string(text), "after\n") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, file := range []string{"raw.txt", "report.md"} {
		if _, err := os.Stat(filepath.Join(out, file)); err != nil {
			t.Error(err)
		}
	}
}

func TestAPageWithoutMarksIsLeftAlone(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("prose"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := updatePage(page, &report.Run{}); err == nil {
		t.Error("no error")
	}
}

func TestMistakesOnTheCommandLineAreTold(t *testing.T) {
	for args, want := range map[string]string{
		"-parts cycles":      `no part "cycles"`,
		"-nodes 0":           "0 nodes",
		"-guests none.wasm":  "none.wasm: no such file",
		"-floors elsewhere":  "run it in the folder of the repository",
		"-unknown":           "flag provided but not defined",
		"-guests empty.wasm": "empty.wasm",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), append([]string{"-floors", "../testdata/bench"}, strings.Fields(args)...), &stdout, &stderr); code == 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d\n%s", args, code, &stderr)
		}
	}
}
