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
	tests := []struct {
		name  string
		spoil func(t *testing.T, committed, first, second string)
		want  []string // in the output of a failure; none: the check passes
	}{
		{
			name:  "the same bytes pass",
			spoil: func(*testing.T, string, string, string) {},
		},
		{
			name:  "a flipped byte in a committed guest is found",
			spoil: func(t *testing.T, committed, _, _ string) { flip(t, committed+"/regex_v2.wasm") },
			want:  []string{"regex_v2.wasm is not what its source builds to", "sha256"},
		},
		{
			name:  "a folder's name in one of the two builds is found",
			spoil: func(t *testing.T, _, _, second string) { flip(t, second+"/regex_v1.wasm") },
			want:  []string{"regex_v1.wasm is not what its source builds to", "in second"},
		},
		{
			name: "another size is reported",
			spoil: func(t *testing.T, committed, _, _ string) {
				write(t, committed+"/regex_v1.wasm", []byte("short"))
			},
			want: []string{"regex_v1.wasm", "committed: 5 bytes"},
		},
		{
			name:  "a missing guest is reported",
			spoil: func(t *testing.T, committed, _, _ string) { remove(t, committed+"/regex_v1.wasm") },
			want:  []string{"regex_v1.wasm", "committed: missing"},
		},
		{
			name:  "a guest that was not built is reported",
			spoil: func(t *testing.T, _, first, _ string) { remove(t, first+"/regex_v2.wasm") },
			want:  []string{"regex_v2.wasm", "rebuilt:   missing"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			folders := []string{filepath.Join(dir, "committed"), filepath.Join(dir, "first"), filepath.Join(dir, "second")}
			for _, folder := range folders {
				copyGuests(t, folder)
			}
			test.spoil(t, folders[0], folders[1], folders[2])

			out, err := exec.Command("./verify-guests.sh", append([]string{"compare"}, folders...)...).CombinedOutput()

			failed := err != nil
			if failed != (len(test.want) > 0) {
				t.Errorf("error %v, output:\n%s", err, out)
			}
			for _, want := range test.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("output lacks %q:\n%s", want, out)
				}
			}
		})
	}
}

func TestVerifyGuestsComparesWithTheRecord(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, root string)
		want  []string // in the output of a failure; none: the check passes
	}{
		{
			name:  "what is committed passes",
			spoil: func(*testing.T, string) {},
		},
		{
			name:  "a changed source is found",
			spoil: func(t *testing.T, root string) { flip(t, root+"/regex/policy.go") },
			want:  []string{"regex/policy.go has changed"},
		},
		{
			name:  "another version of what goes into a guest is found",
			spoil: func(t *testing.T, root string) { flip(t, root+"/v2/go.sum") },
			want:  []string{"v2/go.sum has changed"},
		},
		{
			name:  "a changed guest is found",
			spoil: func(t *testing.T, root string) { flip(t, root+"/static/regex_v1.wasm") },
			want:  []string{"static/regex_v1.wasm has changed"},
		},
		{
			name:  "another recipe is found",
			spoil: func(t *testing.T, root string) { flip(t, root+"/tools/guest.json") },
			want:  []string{"tools/guest.json has changed"},
		},
		{
			name:  "a new source is found",
			spoil: func(t *testing.T, root string) { write(t, root+"/guest/new.go", []byte("package guest\n")) },
			want:  []string{"guest/new.go is new"},
		},
		{
			name:  "a new guest is found",
			spoil: func(t *testing.T, root string) { write(t, root+"/static/regex_v3.wasm", []byte("\x00asm")) },
			want:  []string{"static/regex_v3.wasm is new"},
		},
		{
			name:  "a deleted source is found",
			spoil: func(t *testing.T, root string) { remove(t, root+"/v1/main.go") },
			want:  []string{"v1/main.go is gone"},
		},
		{
			name:  "all that differs is reported",
			spoil: func(t *testing.T, root string) { flip(t, root+"/v1/main.go"); flip(t, root+"/v2/main.go") },
			want:  []string{"v1/main.go has changed", "v2/main.go has changed"},
		},
		{
			name:  "a missing record is reported",
			spoil: func(t *testing.T, root string) { remove(t, root+"/static/sources.txt") },
			want:  []string{"static/sources.txt is missing"},
		},
		{
			name:  "tests do not go into a guest",
			spoil: func(t *testing.T, root string) { write(t, root+"/guest/new_test.go", []byte("package guest\n")) },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := copyTree(t)
			test.spoil(t, root)

			out, err := exec.Command(root+"/tools/verify-guests.sh", "recorded").CombinedOutput()

			failed := err != nil
			if failed != (len(test.want) > 0) {
				t.Errorf("error %v, output:\n%s", err, out)
			}
			for _, want := range test.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("output lacks %q:\n%s", want, out)
				}
			}
			got := strings.Count(string(out), "\n  ")
			if len(test.want) > 0 && got > len(test.want) {
				t.Errorf("%d files are named instead of %d:\n%s", got, len(test.want), out)
			}
		})
	}
}

// The record is what sha256sum -c reads, for those who trust no script of ours.
func TestTheRecordIsReadBySha256sum(t *testing.T) {
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
