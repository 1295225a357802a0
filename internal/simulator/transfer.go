package simulator

import (
	"context"
	"fmt"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

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

// Import applies a snapshot to what is there: first the scheduler's
// configuration, then the objects, as [snapshot.Import] does. progress, which may be
// nil, gets how many of how many objects are done, from several goroutines.
//
// An invalid configuration stops it before anything is done. Objects that the API
// server rejects do not stop it: the error is then a [snapshot.NotImported].
//
// Controllers are paused until all objects are there. Otherwise one would create the
// pods of a ReplicaSet that come later in the file, or set a claim to Lost before its
// volume is there.
func (s *Simulator) Import(ctx context.Context, in *snapshot.Snapshot, progress func(done, of int)) error {
	if err := s.importConfig(ctx, in); err != nil {
		return err
	}
	return s.paused(func() error { return snapshot.Import(ctx, s.client, in, progress) })
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
