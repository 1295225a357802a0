package command

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/whatif/side"
)

// readScheduler takes a door's name, or else a file, which a flag names.
func readScheduler(flag, value string) (compare.Scheduler, error) {
	s := compare.Scheduler{Name: value, Label: flag + " " + value}
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

// readScenario reads a scenario, and gives the digest of the file. Without a path
// there is none.
func readScenario(path string) (s side.Scenario, digest string, err error) {
	if path == "" {
		return s, "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return s, "", fmt.Errorf("--scenario: %w", err)
	}
	scenario, err := side.ReadScenario(text)
	if err != nil {
		return s, "", fmt.Errorf("--scenario %s: %w", path, err)
	}
	return *scenario, fmt.Sprintf("%x", sha256.Sum256(text)), nil
}
