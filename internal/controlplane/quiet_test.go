package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
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

// runQuietly starts and stops clusters, and complains when goroutines pile up.
func runQuietly(dir string) int {
	var after []int
	for range 3 {
		c, err := Start(context.Background(), Config{DataDir: dir})
		if err == nil {
			err = c.Stop()
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		after = append(after, settled())
	}
	if after[2] > after[0]+20 {
		fmt.Println("goroutines after each stop:", after)
		return 1
	}
	return 0
}

// settled counts the goroutines once their number no longer falls.
func settled() int {
	n := runtime.NumGoroutine()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
		now := runtime.NumGoroutine()
		if now >= n {
			return now
		}
		n = now
	}
	return n
}
