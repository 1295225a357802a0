package simulator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// paused does something while no controller changes an object. Those of namespaces
// and of owned objects go on: see [controlplane.Cluster.Pause].
func (s *Simulator) paused(do func() error) error {
	resume, err := s.Pause()
	if err != nil {
		return err
	}
	if err = s.pause.begin(); err == nil {
		err = do()
		err = errors.Join(err, s.pause.end(err))
	}
	if again := resume(); again != nil {
		err = errors.Join(err, fmt.Errorf("start the controllers again: %w", again))
	}
	return err
}

// pause has a file in the data directory while the controllers pause. If it is
// there at a start, the process ended meanwhile, and half of something is there.
type pause struct {
	file     string // empty: nothing is kept
	starting bool   // the controllers wait for ImportFirst

	mu    sync.Mutex
	count int // of those for whom the controllers pause
}

// start refuses to go on with the half of something, but to import it again.
func (p *pause) start(cfg Config) error {
	if p.starting = cfg.Importing; cfg.DataDir == "" {
		return nil
	}
	p.file = filepath.Join(cfg.DataDir, "unfinished")
	if _, err := os.Stat(p.file); err == nil && !cfg.Importing {
		return fmt.Errorf("data directory %s: an import or a reset of it was not finished, and controllers would go on with the half of it that is there: "+
			"import the file again, with --from, or remove %s if the half will do", cfg.DataDir, p.file)
	}
	return nil
}

func (p *pause) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count++; p.file == "" {
		return nil
	}
	return os.WriteFile(p.file, nil, 0o600)
}

// end takes what was done for finished, also if the API server refused some of it. What
// failed stays unfinished until something is finished after it.
func (p *pause) end(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count--; p.file == "" || p.count > 0 || err != nil && !wasRefused(err) {
		return nil
	}
	return os.Remove(p.file)
}

// wasRefused is true of the error of an import that was done but for what the API
// server refused.
func wasRefused(err error) bool {
	var refused snapshot.NotImported
	return errors.As(err, &refused)
}
