package side

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/simulator"
)

// Scheduler is a scheduler that can be tried.
type Scheduler struct {
	Name   string // what it is called in results: the file of its configuration, or its door
	Label  string // what errors begin with. Empty: Name
	Config []byte // the KubeSchedulerConfiguration
	// Program is the simulator that runs it, say of another minor of Kubernetes. Empty:
	// the program that this process runs.
	Program string
}

// ReadScheduler takes a door's name, or else a file, which a flag names.
func ReadScheduler(flag, value string) (Scheduler, error) {
	s := Scheduler{Name: value, Label: flag + " " + value}
	var err error
	if slices.Contains(simulator.Doors, value) {
		s.Config, err = simulator.SchedulerConfig(value)
		return s, err
	}
	if s.Config, err = os.ReadFile(value); errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("%s %s: there is no such file, and no such door: doors are %s", flag, value, strings.Join(simulator.Doors, ", "))
	} else if err != nil {
		return s, fmt.Errorf("%s: %w", flag, err)
	}
	return s, nil
}

// Check looks at the configuration, as far as that can be done without a cluster.
func (s Scheduler) Check(ctx context.Context, plugins frameworkruntime.Registry) error {
	if err := simulator.CheckSchedulerConfig(ctx, s.Config, plugins); err != nil {
		return fmt.Errorf("%s: %w", s.Label, WithLines(err))
	}
	return nil
}

// Profiles are the schedulerNames of its profiles, as far as the configuration can be
// read: what is wrong with it is said at its start.
func (s Scheduler) Profiles() sets.Set[string] {
	names := sets.New[string]()
	if config, err := scheduler.Read(s.Config); err == nil {
		for _, profile := range config.Profiles {
			names.Insert(profile.SchedulerName)
		}
	}
	if len(names) == 0 {
		names.Insert(v1.DefaultSchedulerName)
	}
	return names
}

// WithLines is an error with the line of each mistake in a configuration, if it is of these.
func WithLines(err error) error {
	mistakes := scheduler.Mistakes(nil)
	if !errors.As(err, &mistakes) {
		return err
	}
	var lines []string
	for _, m := range mistakes {
		lines = append(lines, fmt.Sprintf("line %d: %v", max(1, m.Line), m))
	}
	return errors.New(strings.Join(lines, "; "))
}
