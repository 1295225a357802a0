package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// baseline is what Reset goes back to. It does not change once the simulator
// has started.
type baseline struct {
	// config is the scheduler's.
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
	err = s.Import(ctx, in, progress)
	if err != nil && !wasRefused(err) {
		return err
	}
	s.baseline.snapshots = append(s.baseline.snapshots, raw)
	s.baseline.source = in.Source
	s.baseline.config = s.SchedulerConfig()
	return err
}

// Source is the cluster that this one began as a copy of. Nil: of none, or of one
// that is unknown.
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

// goBack recreates what was there at the start, once everything else is gone. What the
// API server rejects was not there at the start either.
func (s *Simulator) goBack(ctx context.Context) error {
	for _, raw := range s.baseline.snapshots {
		objects := &snapshot.Snapshot{}
		if err := json.Unmarshal(raw, objects); err != nil {
			return err
		}
		err := s.importer().Import(ctx, objects, nil)
		if err != nil && !wasRefused(err) {
			return err
		}
	}
	return nil
}

// paused does something while no controller changes an object. Those of namespaces
// and of owned objects go on: see [controlplane.Cluster.Pause].
//
// A file in the data directory says so meanwhile: if it is there at a start, the
// process ended before half of something was whole. What the API server refused does
// not count; what failed stays unfinished until something is finished after it.
func (s *Simulator) paused(do func() error) (err error) {
	s.importing.Lock()
	defer s.importing.Unlock()
	if err := s.Pause(); err != nil {
		return err
	}
	defer func() {
		again := s.Resume()
		if again != nil {
			err = errors.Join(err, fmt.Errorf("start the controllers again: %w", again))
		}
	}()
	if s.unfinished == "" {
		return do()
	}
	if err := os.WriteFile(s.unfinished, nil, 0o600); err != nil {
		return err
	}
	err = do()
	if err == nil || wasRefused(err) {
		err = errors.Join(err, os.Remove(s.unfinished))
	}
	return err
}

// checkFinished refuses to go on with the half of something, but to import it again.
func (s *Simulator) checkFinished(cfg Config) error {
	if cfg.DataDir == "" {
		return nil
	}
	s.unfinished = filepath.Join(cfg.DataDir, "unfinished")
	_, err := os.Stat(s.unfinished)
	if err == nil && !cfg.Importing {
		return fmt.Errorf("data directory %s: an import or a reset was not finished, and controllers would act on the half that is there: "+
			"import the file again with --from, or remove %s to keep that half", cfg.DataDir, s.unfinished)
	}
	return nil
}

// wasRefused reports whether an error is that an import is complete but for what the API
// server rejected.
func wasRefused(err error) bool {
	var refused snapshot.NotImported
	return errors.As(err, &refused)
}
