package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/snapshot"
)

// baseline is what Reset goes back to. It does not change once the simulator
// has started.
type baseline struct {
	// config is that of the scheduler.
	config []byte
	// snapshots are imported, one after the other.
	snapshots [][]byte
	// stays has the objects that were there and are of kinds that no snapshot holds,
	// by UID: they are left alone, and so are the namespaces that they may be in.
	stays map[types.UID]bool
	// source is where the last of the snapshots is from.
	source *snapshot.Source
}

// ImportFirst imports as Import does, and makes what it imports part of what
// Reset goes back to. Call it before anything else changes the simulator.
func (s *Simulator) ImportFirst(ctx context.Context, in *snapshot.Snapshot, progress func(done, of int)) error {
	raw, err := json.Marshal(in) // before Import makes changes to it
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if err = s.Import(ctx, in, progress); err != nil && !wasRefused(err) {
		return err
	}
	if s.pause.starting {
		s.pause.starting = false
		if again := s.Resume(); again != nil {
			return fmt.Errorf("start the controllers: %w", again)
		}
	}
	s.baseline.snapshots = append(s.baseline.snapshots, raw)
	s.baseline.source = in.Source
	s.baseline.config = s.SchedulerConfig()
	return err
}

// Source is the cluster that this one began as a copy of. Nil: of none, or of one
// that nobody knows.
func (s *Simulator) Source() *snapshot.Source { return s.baseline.source }

// remember takes what a kept cluster has as what Reset goes back to.
func (s *Simulator) remember(ctx context.Context) error {
	there, err := snapshot.List(ctx, s.client)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(there)
	if err != nil {
		return err
	}
	client, kinds, err := s.kinds()
	if err != nil {
		return err
	}
	s.baseline.snapshots, s.baseline.stays = [][]byte{raw}, map[types.UID]bool{}
	for _, kind := range append(kinds, namespaces) {
		inSnapshots := slices.ContainsFunc(snapshot.Kinds, func(k snapshot.Kind) bool { return k.Resource == kind })
		if inSnapshots && kind != namespaces {
			continue
		}
		list, err := client.Resource(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list %s: %w", kind.Resource, err)
		}
		for i := range list.Items {
			s.baseline.stays[list.Items[i].UID] = true
		}
	}
	return nil
}

// goBack makes what was there at the start, once everything else is gone. What is
// refused was not there at the start either.
func (s *Simulator) goBack(ctx context.Context) error {
	for _, raw := range s.baseline.snapshots {
		objects := &snapshot.Snapshot{}
		if err := json.Unmarshal(raw, objects); err != nil {
			return err
		}
		if err := s.Importer().Importer.Import(ctx, objects, nil); err != nil && !wasRefused(err) {
			return err
		}
	}
	return nil
}

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
