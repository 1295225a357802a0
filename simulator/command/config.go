package command

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/whatif/compare"
	"wasmkwokwizardry.io/regex-scheduling/whatif/side"
)

// readScheduler takes a variant's name, or else a file, which a flag names.
func readScheduler(flag, value string) (compare.Scheduler, error) {
	s := compare.Scheduler{Name: value, Label: flag + " " + value}
	var err error
	if simulator.IsVariant(value) {
		s.Config, err = simulator.SchedulerConfig(value)
		return s, err
	}
	if s.Config, err = os.ReadFile(value); errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("%s %s: there is no such file, and no such plugin variant: use %s", flag, value, strings.Join(simulator.Variants, ", "))
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
