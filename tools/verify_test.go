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

func TestVerifyGuestsComparesEveryByte(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(t *testing.T, committed, first, second string)
		want  []string
	}{
		"the same bytes pass": {func(*testing.T, string, string, string) {}, nil},
		"a flipped byte in a committed guest is found": {
			func(t *testing.T, committed, _, _ string) { flip(t, committed+"/regex_v2.wasm") },
			[]string{"regex_v2.wasm is not what its source builds to", "sha256"},
		},
		"a folder's name in one of the two builds is found": {
			func(t *testing.T, _, _, second string) { flip(t, second+"/regex_v1.wasm") },
			[]string{"regex_v1.wasm is not what its source builds to", "in second"},
		},
		"a missing guest is reported": {
			func(t *testing.T, committed, _, _ string) { remove(t, committed+"/regex_v1.wasm") },
			[]string{"regex_v1.wasm", "committed: missing"},
		},
		"a guest that was not built is reported": {
			func(t *testing.T, _, first, _ string) { remove(t, first+"/regex_v2.wasm") },
			[]string{"regex_v2.wasm", "rebuilt:   missing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			folders := []string{filepath.Join(dir, "committed"), filepath.Join(dir, "first"), filepath.Join(dir, "second")}
			for _, folder := range folders {
				copyGuests(t, folder)
			}
			test.spoil(t, folders[0], folders[1], folders[2])
			verify(t, test.want, "./verify-guests.sh", append([]string{"compare"}, folders...)...)
		})
	}
}

// verify runs a check. It must fail with want in its output, or pass if there is none.
func verify(t *testing.T, want []string, program string, args ...string) (out string) {
	t.Helper()
	said, err := exec.Command(program, args...).CombinedOutput()
	if (err != nil) != (len(want) > 0) {
		t.Errorf("error %v, output:\n%s", err, said)
	}
	for _, line := range want {
		if !strings.Contains(string(said), line) {
			t.Errorf("output lacks %q:\n%s", line, said)
		}
	}
	return string(said)
}

func TestVerifyGuestsComparesWithTheRecord(t *testing.T) {
	flips := func(file string) func(*testing.T, string) {
		return func(t *testing.T, root string) { flip(t, filepath.Join(root, file)) }
	}
	writes := func(file, content string) func(*testing.T, string) {
		return func(t *testing.T, root string) { write(t, filepath.Join(root, file), []byte(content)) }
	}
	removes := func(file string) func(*testing.T, string) {
		return func(t *testing.T, root string) { remove(t, filepath.Join(root, file)) }
	}
	for name, test := range map[string]struct {
		spoil func(t *testing.T, root string)
		want  []string
	}{
		"what is committed passes":                           {func(*testing.T, string) {}, nil},
		"tests do not go into a guest":                       {writes("guest/new_test.go", "package guest\n"), nil},
		"a changed source is found":                          {flips("regex/policy.go"), []string{"regex/policy.go has changed"}},
		"another version of what goes into a guest is found": {flips("v2/go.sum"), []string{"v2/go.sum has changed"}},
		"a changed guest is found":                           {flips("static/regex_v1.wasm"), []string{"static/regex_v1.wasm has changed"}},
		"another recipe is found":                            {flips("tools/guest.json"), []string{"tools/guest.json has changed"}},
		"a new source is found":                              {writes("guest/new.go", "package guest\n"), []string{"guest/new.go is new"}},
		"a new guest is found":                               {writes("static/regex_v3.wasm", "\x00asm"), []string{"static/regex_v3.wasm is new"}},
		"a deleted source is found":                          {removes("v1/main.go"), []string{"v1/main.go is gone"}},
		"a missing record is reported":                       {removes("static/sources.txt"), []string{"static/sources.txt is missing"}},
		"all that differs is reported": {
			func(t *testing.T, root string) { flip(t, root+"/v1/main.go"); flip(t, root+"/v2/main.go") },
			[]string{"v1/main.go has changed", "v2/main.go has changed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := copyTree(t)
			test.spoil(t, root)
			out := verify(t, test.want, root+"/tools/verify-guests.sh", "recorded")
			got := strings.Count(out, "\n  ")
			if len(test.want) > 0 && got > len(test.want) {
				t.Errorf("%d files are named instead of %d:\n%s", got, len(test.want), out)
			}
		})
	}
}

// The record is what sha256sum -c reads, for those who trust no script of ours.
func TestRecordIsReadBySha256sum(t *testing.T) {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("no sha256sum on PATH")
	}
	check := exec.Command("sha256sum", "-c", "--quiet", "static/sources.txt")
	check.Dir = ".."
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Without TinyGo the record decides, and that nothing was rebuilt is reported; a
// TinyGo that does not build is no reason to pass.
func TestVerifyGuestsWithoutTinyGo(t *testing.T) {
	tests := []struct {
		name, install string
		spoil         func(t *testing.T, root string)
		passes        bool
		want          string
	}{
		{"it cannot be had", "exit 3", func(*testing.T, string) {}, true, "NOT REBUILT"},
		{"it does not build", "exit 1", func(*testing.T, string) {}, false, ""},
		{
			"the source has changed", "exit 3",
			func(t *testing.T, root string) { flip(t, root+"/regex/selector.go") }, false, "regex/selector.go has changed",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := copyTree(t)
			write(t, root+"/tools/install.sh", []byte("#!/bin/sh\n"+test.install+"\n"))
			test.spoil(t, root)

			out, err := exec.Command(root + "/tools/verify-guests.sh").CombinedOutput()

			passes := err == nil
			if passes != test.passes || !strings.Contains(string(out), test.want) {
				t.Errorf("error %v, want %q in the output:\n%s", err, test.want, out)
			}
		})
	}
}

// copyTree copies what the record is about, and the scripts.
func copyTree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"guest", "regex", "v1", "v2", "static", "tools"} {
		if err := os.CopyFS(filepath.Join(root, folder), os.DirFS(filepath.Join("..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// copyGuests copies the committed guests into a new folder.
func copyGuests(t *testing.T, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"regex_v1.wasm", "regex_v2.wasm"} {
		guest, err := os.ReadFile(filepath.Join("../static", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), guest)
	}
}

// flip inverts one bit in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	write(t, path, content)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
