package simulator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// held does something while no controller changes an object. Those of namespaces
// and of owned objects go on: see [controlplane.Cluster.Hold].
func (s *Simulator) held(do func() error) error {
	resume, err := s.cluster.Hold()
	if err != nil {
		return err
	}
	if err = s.unfinished.begin(); err == nil {
		err = do()
		err = errors.Join(err, s.unfinished.end(err))
	}
	if again := resume(); again != nil {
		err = errors.Join(err, fmt.Errorf("start the controllers again: %w", again))
	}
	return err
}

// unfinished is a file that a data directory has while something is held. If it is
// still there at a start, the process ended meanwhile, and half of it is there.
type unfinished struct {
	file string // empty: nothing is kept

	mu       sync.Mutex
	underWay int
}

// unfinishedIn is where it is. Without a data directory it is nowhere.
func unfinishedIn(dataDir string) string {
	if dataDir == "" {
		return ""
	}
	return filepath.Join(dataDir, "unfinished")
}

// check refuses to go on with the half of something.
func (u *unfinished) check() error {
	if u.file == "" {
		return nil
	}
	if _, err := os.Stat(u.file); err != nil {
		return nil
	}
	return fmt.Errorf("data directory %s: an import or a reset of it was not finished, and controllers would go on with the half of it that is there: "+
		"import the file again, with --from, or remove %s if the half will do", filepath.Dir(u.file), u.file)
}

func (u *unfinished) begin() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.underWay++
	if u.file == "" {
		return nil
	}
	return os.WriteFile(u.file, nil, 0o600)
}

// end takes what was done for finished, also if the API server refused some of it. What
// failed stays unfinished until something is finished after it.
func (u *unfinished) end(err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.underWay--
	refused := snapshot.NotImported(nil)
	if u.file == "" || u.underWay > 0 || err != nil && !errors.As(err, &refused) {
		return nil
	}
	return os.Remove(u.file)
}
