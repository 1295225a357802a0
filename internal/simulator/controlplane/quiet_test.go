package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// quietDir, when set, makes the test binary run clusters instead of tests.
const quietDir = "CONTROLPLANE_QUIET_DIR"

// fast finds what the log says of requests that took less than 0.3 seconds.
var fast = regexp.MustCompile(`.*request stats.*"time spent": 0\.[0-2].*`)

func TestClusterIsQuiet(t *testing.T) {
	dir := t.TempDir()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), quietDir+"="+dir)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	} else if len(out) > 0 {
		t.Errorf("written to the console:\n%s", out)
	}
	log, err := os.ReadFile(filepath.Join(dir, LogFile))
	testkit.Must(t, err)
	found := fast.FindAll(log, -1)
	if len(found) > 0 {
		t.Errorf("%d requests are in the log, such as %s", len(found), found[0])
	}
}

// maxLeft is how many goroutines a process may keep after its last cluster. A
// running cluster has thousands.
const maxLeft = 20

// runQuietly starts and stops clusters, and complains when goroutines pile up.
func runQuietly(dir string) int {
	for range 2 {
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
	for deadline := time.Now().Add(testkit.Patience); runtime.NumGoroutine() > maxLeft; {
		if time.Now().After(deadline) {
			fmt.Printf("%d goroutines are left:\n", runtime.NumGoroutine())
			_ = pprof.Lookup("goroutine").WriteTo(os.Stdout, 1)
			return 1
		}
		time.Sleep(100 * time.Millisecond)
	}
	return 0
}

// cacheOf finds what kube-apiserver's metrics say of each watch cache.
var cacheOf = regexp.MustCompile(`(?m)^apiserver_watch_cache_resource_version\{.*resource="(.*?)"\}`)

// The other two are of the servers of CRDs and of APIServices.
func TestOnlyNodesAndPodsHaveAWatchCache(t *testing.T) {
	metrics, err := clientOf(t, sharedCluster.AdminConfig()).Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	testkit.Must(t, err)
	var has []string
	for _, found := range cacheOf.FindAllSubmatch(metrics, -1) {
		has = append(has, string(found[1]))
	}
	slices.Sort(has)
	want := []string{"apiservices", "customresourcedefinitions", "nodes", "pods"}
	testkit.Equal(t, has, want, "the kinds with a watch cache")
}
