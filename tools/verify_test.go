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
			name: "another size is told",
			spoil: func(t *testing.T, committed, _, _ string) {
				write(t, committed+"/regex_v1.wasm", []byte("short"))
			},
			want: []string{"regex_v1.wasm", "committed: 5 bytes"},
		},
		{
			name:  "a missing guest is told",
			spoil: func(t *testing.T, committed, _, _ string) { remove(t, committed+"/regex_v1.wasm") },
			want:  []string{"regex_v1.wasm", "committed: missing"},
		},
		{
			name:  "a guest that was not built is told",
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

			if failed := err != nil; failed != (len(test.want) > 0) {
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
