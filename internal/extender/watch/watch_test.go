package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/watch"
)

// start watches path and returns a channel of its changes.
func start(t *testing.T, path string, resync time.Duration) <-chan struct{} {
	changes := make(chan struct{}, 16)
	ctx, cancel := context.WithCancel(t.Context())
	done, ready := make(chan struct{}), make(chan struct{})
	w := watch.Watcher{Paths: []string{path}, Changed: func() { changes <- struct{}{} }, Logger: testr.New(t), Resync: resync}
	go func() {
		defer close(done)
		w.Run(ctx, func() { close(ready) })
	}()
	t.Cleanup(func() { cancel(); <-done })
	<-ready
	return changes
}

func await(t *testing.T, changes <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-changes:
	case <-time.After(time.Minute):
		t.Fatalf("%s: no change was seen for a minute", what)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAChangeIsSeenHoweverItIsMade(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	write(t, path, "a")
	changes := start(t, path, time.Hour)

	write(t, path, "b")
	await(t, changes, "written in place")

	write(t, path+".new", "c")
	must(t, os.Rename(path+".new", path))
	await(t, changes, "renamed over")

	must(t, os.Remove(path))
	await(t, changes, "removed")
	write(t, path, "d")
	await(t, changes, "written anew")
}

func TestAChangeBehindTheLinksOfAConfigMapIsSeen(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"..1", "..2"} {
		must(t, os.Mkdir(filepath.Join(dir, version), 0o700))
		write(t, filepath.Join(dir, version, "config.yaml"), version)
	}
	must(t, os.Symlink("..1", filepath.Join(dir, "..data")))
	path := filepath.Join(dir, "config.yaml")
	must(t, os.Symlink("..data/config.yaml", path))
	changes := start(t, path, time.Hour)

	must(t, os.Symlink("..2", filepath.Join(dir, "..tmp")))
	must(t, os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
	await(t, changes, "the link was swapped")
}

func TestAChangeIsSeenWithoutNotifications(t *testing.T) {
	path := filepath.Join(t.TempDir(), "later", "config.yaml") // no folder, nothing to notify
	changes := start(t, path, time.Millisecond)
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	write(t, path, "a")
	await(t, changes, "came later")
}
