package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
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
		if again := s.cluster.Resume(); again != nil {
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
		return fmt.Errorf("read what is there: %w", err)
	}
	raw, err := json.Marshal(there)
	if err != nil {
		return fmt.Errorf("read what is there: %w", err)
	}
	if s.baseline.stays, err = s.others(ctx); err != nil {
		return fmt.Errorf("read what is there: %w", err)
	}
	s.baseline.snapshots = [][]byte{raw}
	return nil
}

// inSnapshots is true of the kinds of a Snapshot, but for namespaces.
func inSnapshots(kind schema.GroupVersionResource) bool {
	return kind != namespaces && slices.ContainsFunc(snapshot.Kinds, func(k snapshot.Kind) bool { return k.Resource == kind })
}

// others are the UIDs of what Reset would delete and a Snapshot does not hold, and
// of namespaces.
func (s *Simulator) others(ctx context.Context) (map[types.UID]bool, error) {
	client, err := metadata.NewForConfig(s.cluster.AdminConfig())
	if err != nil {
		return nil, err
	}
	kinds, err := s.namespaced()
	if err != nil {
		return nil, err
	}
	found := map[types.UID]bool{}
	for _, kind := range slices.Concat(kinds, clusterWide, []schema.GroupVersionResource{namespaces}) {
		if inSnapshots(kind) {
			continue
		}
		list, err := client.Resource(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Resource, err)
		}
		for i := range list.Items {
			found[list.Items[i].UID] = true
		}
	}
	return found, nil
}

// goBack makes what was there at the start, once everything else is gone.
func (s *Simulator) goBack(ctx context.Context) error {
	var errs []error
	for _, raw := range s.baseline.snapshots {
		objects := &snapshot.Snapshot{}
		if err := json.Unmarshal(raw, objects); err != nil {
			return err
		}
		// What is refused was not there at the start either.
		if err := s.Importer().Importer.Import(ctx, objects, nil); !wasRefused(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
