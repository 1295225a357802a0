// Package door has every way into the scheduler, opened so that one goroutine
// can walk a pod through it again and again. It calls what kube-scheduler would
// call, in that order, and measures nothing.
//
// To add a door, register it from an init function in a file of its own.
package door

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// Role says what a door is measured for.
type Role string

// The roles.
const (
	Ours    Role = "ours"    // decides by the policy
	Floor   Role = "floor"   // does less than any policy must
	Foreign Role = "foreign" // a guest from elsewhere
)

// Door is a way into the scheduler.
type Door struct {
	// Name is short, without blanks or slashes: benchstat reads it too.
	Name string
	Role Role
	// About says in a few words what the door is.
	About string
	// Open makes it ready for the nodes of a cluster.
	Open func(ctx context.Context, cluster *work.Cluster) (Session, error)
	// Wasm is the guest, if the door is one.
	Wasm []byte
	// Serve makes it ready for a real scheduler. Nil: the door is not measured
	// there.
	Serve func(ctx context.Context) (Service, error)
}

// Session is an opened door.
type Session interface {
	// Cycle runs the scheduling cycle of a pod as far as the door has a part in
	// it, and returns the names of the nodes that pass, in feasible if it has
	// the room. Nobody may change them.
	Cycle(pod *v1.Pod, feasible []string) ([]string, error)
	// Filtered is how many nodes the last cycle asked about, one by one.
	Filtered() int
	Close() error
}

// PreFilterer is a Session whose part begins with a PreFilter.
type PreFilterer interface {
	Session
	// PreFilter begins a cycle.
	PreFilter(pod *v1.Pod)
}

// Sharer is a Session that can be asked about several nodes at the same time.
type Sharer interface {
	Session
	// CycleAmong runs a cycle whose nodes are shared among goroutines. Its
	// verdicts are dropped.
	CycleAmong(goroutines int, pod *v1.Pod) error
}

// Guest is a Session in a guest.
type Guest interface {
	PreFilterer
	// Memory is the size of the memory of an instance of the guest, in bytes.
	Memory() int
}

// Service is a door that stands open to a real scheduler.
type Service struct {
	// Config is a KubeSchedulerConfiguration in YAML.
	Config string
	// Plugins are what the scheduler must have compiled in.
	Plugins frameworkruntime.Registry
	// Close may be nil.
	Close func() error
}

var registered []Door

// Register adds a door. A name that is taken panics.
func Register(d Door) {
	for _, other := range registered {
		if other.Name == d.Name {
			panic(fmt.Sprintf("door %s is registered twice", d.Name))
		}
	}
	registered = append(registered, d)
}

// All are the registered doors, then the floors, whose guests are in a folder,
// then guests from elsewhere, by file.
func All(floors string, guests []string) ([]Door, error) {
	all := append([]Door(nil), registered...)
	for _, f := range []struct{ name, about string }{
		{"empty", "a guest that does nothing"},
		{"name", "a guest that only fetches the node's name"},
		{"reject", "a guest that fetches the name and rejects with a reason"},
		{"pod", "a guest that only fetches the pod, in PreFilter"},
	} {
		d, err := fromFile(f.name, floors+"/"+f.name+".wasm", Floor, f.about)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	for _, file := range guests {
		d, err := fromFile(nameOf(file), file, Foreign, file)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, unique(all)
}

func unique(all []Door) error {
	seen := map[string]bool{}
	for _, d := range all {
		if seen[d.Name] {
			return fmt.Errorf("two doors have the name %s: rename a guest's file", d.Name)
		}
		seen[d.Name] = true
	}
	return nil
}
