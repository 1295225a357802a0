// Package watch tells when the contents of files change, however they change:
// written in place, renamed over, or swapped behind a symbolic link as
// Kubernetes does with ConfigMaps and Secrets.
//
// It compares contents, so that touching a file is no change. It does not say
// which file changed, nor whether it is any good.
package watch

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/go-logr/logr"
)

// A Watcher watches a fixed set of files.
type Watcher struct {
	// Paths are the files. One that is missing may come later.
	Paths []string
	// Changed is called after a change, from one goroutine.
	Changed func()
	// Logger gets what goes wrong.
	Logger logr.Logger
	// Resync looks at the files this often in any case, for file systems that
	// do not notify. 0: every minute.
	Resync time.Duration
}

// settle is how long the files must be quiet before they are looked at:
// certificate and key are rarely written in the same instant.
const settle = 50 * time.Millisecond

// Run watches until ctx is done. Before it starts to, it calls ready, from
// which on no change is missed.
func (w *Watcher) Run(ctx context.Context, ready func()) {
	resync := w.Resync
	if resync == 0 {
		resync = time.Minute
	}
	notify, stop := w.notifications()
	defer stop()
	tick := time.NewTicker(resync)
	defer tick.Stop()
	quiet := time.NewTimer(settle)
	defer quiet.Stop()
	seen := digest(w.Paths)
	ready()
	for {
		select {
		case <-ctx.Done():
			return
		case <-notify:
			quiet.Reset(settle)
			continue
		case <-quiet.C:
		case <-tick.C:
		}
		if now := digest(w.Paths); now != seen {
			seen = now
			w.Changed()
		}
	}
}

// notifications of anything in the folders of the files. Without the system's
// help there are none, and the resync has to do.
func (w *Watcher) notifications() (<-chan fsnotify.Event, func()) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		w.Logger.Error(err, "Cannot be notified of changes to files, looking at them at intervals")
		return nil, func() {}
	}
	go func() {
		for err := range system.Errors {
			w.Logger.Error(err, "Notifications of changes to files were lost")
		}
	}()
	for _, path := range w.Paths {
		if err := system.Add(filepath.Dir(path)); err != nil {
			w.Logger.Error(err, "Cannot be notified of changes, looking at intervals", "file", path)
		}
	}
	return system.Events, func() { _ = system.Close() }
}

// digest stands for the contents of all files; a missing file has one too.
func digest(paths []string) [sha256.Size]byte {
	all := sha256.New()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		one := sha256.Sum256(data)
		if err != nil {
			one = [sha256.Size]byte{}
		}
		all.Write(one[:])
	}
	return [sha256.Size]byte(all.Sum(nil))
}
