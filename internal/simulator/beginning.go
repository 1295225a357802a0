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
)

// beginning is what Reset goes back to. It does not change once the simulator
// has started.
type beginning struct {
	// snapshots are imported, one after the other.
	snapshots [][]byte
	// stays has the objects that were there and are of kinds that no snapshot holds,
	// by UID: they are left alone, and so are the namespaces that they may be in.
	stays map[types.UID]bool
}

// ImportFirst imports as Import does, and makes what it imports part of what
// Reset goes back to. Call it before anything else changes the simulator.
func (s *Simulator) ImportFirst(ctx context.Context, in *Snapshot, progress func(done, of int)) error {
	snapshot, err := json.Marshal(in) // before Import makes changes to it
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if err := s.Import(ctx, in, progress); err != nil {
		return err
	}
	s.beginning.snapshots = append(s.beginning.snapshots, snapshot)
	s.initial = s.SchedulerConfig()
	return nil
}

// remember takes what a kept cluster has as what Reset goes back to.
func (s *Simulator) remember(ctx context.Context) error {
	there := &Snapshot{}
	if err := s.list(ctx, there); err != nil {
		return fmt.Errorf("read what is there: %w", err)
	}
	snapshot, err := json.Marshal(there)
	if err != nil {
		return fmt.Errorf("read what is there: %w", err)
	}
	if s.beginning.stays, err = s.others(ctx); err != nil {
		return fmt.Errorf("read what is there: %w", err)
	}
	s.beginning.snapshots = [][]byte{snapshot}
	return nil
}

// inSnapshots are the kinds of a Snapshot, but for namespaces.
var inSnapshots = []string{"pods", "nodes", "persistentvolumes", "persistentvolumeclaims", "storageclasses", "priorityclasses"}

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
		if slices.Contains(inSnapshots, kind.Resource) {
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
	for _, raw := range s.beginning.snapshots {
		snapshot := &Snapshot{}
		if err := json.Unmarshal(raw, snapshot); err != nil {
			return err
		}
		errs = append(errs, s.importAll(ctx, snapshot, nil))
	}
	return errors.Join(errs...)
}
