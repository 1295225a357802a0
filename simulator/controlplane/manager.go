package controlplane

import (
	"errors"
	"slices"
	"sync"
)

// manager starts and stops controllers: what kube-controller-manager is to a
// cluster of machines.
type manager struct {
	identities identities
	pausing    []controller // those that can

	mu      sync.Mutex
	cleaner *controllers // those that always run
	others  *controllers // nil while they pause
	pauses  int
	stopped bool
}

func startManager(c *Cluster, cfg Config) (*manager, error) {
	m := &manager{identities: identities{c, map[string]identity{}}, pausing: slices.Concat(keepers, volumes), pauses: 1}
	if !cfg.NoWorkloads {
		m.pausing = append(m.pausing, workloads...)
	}
	var err error
	if m.cleaner, err = startControllers(cleaners, m.identities); err != nil || cfg.Paused {
		return m, err
	}
	return m, m.resume()
}

// stop ends all controllers. It may be called on nil, and again.
func (m *manager) stop() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	m.stopped = true
	for _, running := range []*controllers{m.others, m.cleaner} {
		if running != nil {
			running.stop()
		}
	}
}

var errStopped = errors.New("the control plane was stopped")

// Pause stops the controllers that make and change objects, and returns when the
// last of them has; the garbage collector and the end of namespaces go on. So many
// objects can be made or deleted that belong together, such as a ReplicaSet and
// its pods, without a controller acting on half of them. Call resume once, after
// that: then controllers see the whole. Pauses may overlap; the last one to resume
// starts the controllers.
func (c *Cluster) Pause() (resume func() error, err error) {
	m := c.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return nil, errStopped
	}
	m.pauses++
	if m.others != nil {
		m.others.stop()
		m.others = nil
	}
	return m.resume, nil
}

// Resume ends the pause that a cluster was started with.
func (c *Cluster) Resume() error { return c.manager.resume() }

func (m *manager) resume() (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pauses--; m.pauses == 0 && !m.stopped {
		m.others, err = startControllers(m.pausing, m.identities)
	}
	return err
}
