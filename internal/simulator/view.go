package simulator

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
)

// Client may do everything.
func (s *Simulator) Client() kubernetes.Interface { return nil }

// Informers are synced caches of nodes, pods, namespaces, priority classes,
// persistent volumes and their claims, storage classes and events. What their
// listers return is shared: don't change it.
func (s *Simulator) Informers() informers.SharedInformerFactory { return nil }

// Changes returns a channel that gets a value soon after anything in the caches
// of Informers, in the Recorder or in the scheduler's configuration has changed.
// Several changes may share a value. The subscription ends with ctx.
func (s *Simulator) Changes(ctx context.Context) <-chan struct{} { return make(chan struct{}, 1) }

// Recorder keeps the scheduling attempts.
func (s *Simulator) Recorder() *recorder.Recorder { return nil }

// SchedulerConfig is the configuration in use, as it was typed.
func (s *Simulator) SchedulerConfig() []byte { return nil }

// ApplySchedulerConfig restarts the scheduler with another configuration. If that
// is no good, the error says why and the running scheduler goes on.
func (s *Simulator) ApplySchedulerConfig(ctx context.Context, config []byte) error { return nil }

// Reset deletes all resources that a user has made, forgets the attempts and
// restores the configuration that the simulator was started with.
func (s *Simulator) Reset(ctx context.Context) error { return nil }

// Export returns all resources and the scheduler's configuration.
func (s *Simulator) Export(ctx context.Context) (*Snapshot, error) { return nil, nil }

// Import applies a snapshot to what is there. progress, which may be nil, is told
// how many of how many objects are done.
func (s *Simulator) Import(ctx context.Context, snapshot *Snapshot, progress func(done, of int)) error {
	return nil
}
