package simulator

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// baseline is what Reset goes back to. It does not change once the simulator
// has started.
type baseline struct {
	config []byte // of the scheduler
	state  *controlplane.State
	source *snapshot.Source // of ImportFirst
}

// ImportFirst imports as Import does, and makes that a part of what Reset goes back to. No pod is scheduled
// before all objects are there. Call it before anything else changes the simulator.
func (s *Simulator) ImportFirst(ctx context.Context, in *snapshot.Snapshot, progress func(done, of int)) error {
	if err := s.importConfig(ctx, in); err != nil {
		return err
	}
	s.stopScheduler()
	err := s.paused(func() error {
		err := snapshot.Import(ctx, s.client, in, progress)
		if err != nil && !wasRefused(err) {
			return err
		}
		var failed error
		s.baseline.state, failed = s.State(ctx)
		return errors.Join(err, failed)
	})
	if err != nil && !wasRefused(err) {
		return err
	}
	s.baseline.config = s.SchedulerConfig()
	s.baseline.source = in.Source
	wrong := s.ApplySchedulerConfig(ctx, s.baseline.config)
	if wrong != nil {
		return wrong
	}
	return err
}

// Source is the cluster that this one began as a copy of. It is nil without one, or if the
// cluster is not known.
func (s *Simulator) Source() *snapshot.Source { return s.baseline.source }

// Reset goes back to the start: all objects and the scheduler's configuration are as they were then, and what came
// later is gone, scheduling attempts included. The start includes a kept cluster, and what ImportFirst imported.
func (s *Simulator) Reset(ctx context.Context) error {
	var wrong error // with the configuration, which keeps no object from being recreated
	err := s.paused(func() error {
		restoring, err := s.Clear(ctx, s.baseline.state)
		if err != nil {
			return err
		}
		if err := s.waitDeleted(ctx, restoring); err != nil {
			return err
		}
		s.recorder.Reset()
		if !bytes.Equal(s.SchedulerConfig(), s.baseline.config) {
			if err := s.ApplySchedulerConfig(ctx, s.baseline.config); err != nil {
				wrong = fmt.Errorf("scheduler configuration: %w", err)
			}
		}
		return restoring.PutBack(ctx)
	})
	if err := errors.Join(wrong, err); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	return nil
}

// waitDeleted waits until the caches show that everything is gone. The scheduler's are fed
// by the same watch cache.
func (s *Simulator) waitDeleted(ctx context.Context, restoring *controlplane.Restoring) error {
	deleted := func(object any) bool { return restoring.Deleted(object.(metav1.Object)) }
	for _, informer := range s.cached() {
		err := wait.PollUntilContextCancel(ctx, 5*time.Millisecond, true, func(context.Context) (bool, error) {
			return !slices.ContainsFunc(informer.GetStore().List(), deleted), context.Cause(s.running)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// paused does something while no controller changes an object: see [controlplane.Cluster.Pause].
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
func (s *Simulator) checkFinished() error {
	if s.settings.DataDir == "" {
		return nil
	}
	s.unfinished = filepath.Join(s.settings.DataDir, "unfinished")
	_, err := os.Stat(s.unfinished)
	if err == nil && !s.settings.Importing {
		return fmt.Errorf("data directory %s: an import or a reset was not finished, and controllers would act on the half that is there: "+
			"import the file again with --from, or remove %s to keep that half", s.settings.DataDir, s.unfinished)
	}
	return nil
}

// wasRefused reports whether an error is of an import that is complete but for what the API
// server rejected.
func wasRefused(err error) bool {
	var refused snapshot.NotImported
	return errors.As(err, &refused)
}

// Export returns all resources, without what the cluster brings itself, and the
// scheduler's configuration as it was given, in JSON.
func (s *Simulator) Export(ctx context.Context) (*snapshot.Snapshot, error) {
	config, err := yaml.YAMLToJSON(s.SchedulerConfig())
	if err != nil {
		return nil, fmt.Errorf("export: scheduler configuration: %w", err)
	}
	out, err := snapshot.List(ctx, s.client)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	out.SchedulerConfig = config
	return out, nil
}

// Import applies a snapshot to what is there: first the scheduler's configuration, of which a mistake
// ends it, then the objects, as [snapshot.Import] does. progress, which may be nil, gets how many of how many
// objects are done, from several goroutines. If the API server rejects objects, the error is a [snapshot.NotImported].
//
// Controllers are paused meanwhile. Otherwise one would create the pods of a ReplicaSet that come
// later in the file, or set a claim to Lost before its volume is there.
func (s *Simulator) Import(ctx context.Context, in *snapshot.Snapshot, progress func(done, of int)) error {
	if err := s.importConfig(ctx, in); err != nil {
		return err
	}
	return s.paused(func() error { return snapshot.Import(ctx, s.client, in, progress) })
}

//go:embed example.yaml
var example []byte

// Example is a cluster to begin with: three nodes, and pods whose regex matches some, none, and is invalid.
func Example() *snapshot.Snapshot {
	objects, _, err := snapshot.Read(bytes.NewReader(example))
	if err != nil {
		panic(err) // it is embedded
	}
	return objects
}

func (s *Simulator) importConfig(ctx context.Context, in *snapshot.Snapshot) error {
	if len(in.SchedulerConfig) == 0 || string(in.SchedulerConfig) == "null" {
		return nil
	}
	if err := s.ApplySchedulerConfig(ctx, in.SchedulerConfig); err != nil {
		return fmt.Errorf(`import: scheduler configuration: %w; nothing is imported; "objects only" skips the configuration`, err)
	}
	return nil
}
