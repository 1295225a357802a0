//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// A device that is replaced by a file is one no more for every program.
func TestWhatIsNoRegularFileIsWrittenTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	testkit.Must(t, syscall.Mkfifo(path, 0o600))
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	testkit.Must(t, err)
	defer pipe.Close()
	testkit.Must(t, WriteBytes(path, []byte("text")))
	info, err := os.Lstat(path)
	testkit.Must(t, err)
	if info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("%s is %s now", path, info.Mode())
	}
	got := make([]byte, 4)
	_, err = pipe.Read(got)
	if err != nil || string(got) != "text" {
		t.Errorf("got %q, %v", got, err)
	}
}
