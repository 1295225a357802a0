package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// quietDir, when set, makes the test binary run clusters instead of tests.
const quietDir = "CONTROLPLANE_QUIET_DIR"

func TestNothingIsWrittenToTheConsole(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), quietDir+"="+t.TempDir())
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	} else if len(out) > 0 {
		t.Errorf("written to the console:\n%s", out)
	}
}

// maxLeft is how many goroutines a process may keep after its last cluster. A
// running cluster has thousands.
const maxLeft = 20

// runQuietly starts and stops clusters, and complains when goroutines pile up.
func runQuietly(dir string) int {
	for range 3 {
		c, err := Start(context.Background(), Config{DataDir: dir})
		if err == nil {
			err = c.Stop()
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
	}
	// The API server's caches leave some that end seconds after it.
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > maxLeft; {
		if time.Now().After(deadline) {
			fmt.Printf("%d goroutines are left:\n", runtime.NumGoroutine())
			_ = pprof.Lookup("goroutine").WriteTo(os.Stdout, 1)
			return 1
		}
		time.Sleep(100 * time.Millisecond)
	}
	return 0
}
