package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
)

// decode refuses unknown and repeated fields, and a text without any.
func (c *Config) decode(data []byte) error {
	text, err := checkForm(data)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(data, c); err != nil {
		return err
	}
	return c.checkAlgorithms(text)
}

// Complete fills in what follows from the rest, down to the defaults of each
// algorithm, and validates. It must be called on a Config that was not loaded.
func (c *Config) Complete() error {
	if c.Filter == nil {
		c.Filter = []string{cmp.Or(c.Algorithm, "regex")}
	}
	if c.Prioritize == nil {
		c.Prioritize = []string{cmp.Or(c.Algorithm, "nop")}
	}
	c.Algorithm = ""
	problems := append(c.completeAlgorithms(), c.validate()...)
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// completeAlgorithms gives every name an entry, with its whole config in it.
func (c *Config) completeAlgorithms() (problems []error) {
	entries := make(map[string]Algorithm)
	for _, name := range c.InUse() {
		entries[name] = Algorithm{}
	}
	for name, entry := range c.Algorithms {
		entries[name] = entry
	}
	for name, entry := range entries {
		entry.Kind = cmp.Or(entry.Kind, name)
		entry.Weight = cmp.Or(entry.Weight, 1)
		if entry.Weight < 1 {
			problems = append(problems, fmt.Errorf("algorithms.%s.weight: must be at least 1", name))
		}
		resolved, err := algorithm.Resolve(entry.Kind, entry.Config)
		if err == nil {
			entry.Config, err = json.Marshal(resolved)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("algorithms.%s: %w", name, err))
		}
		entries[name] = entry
	}
	c.Algorithms = entries
	return problems
}

// InUse are the names of the algorithms that some verb uses, each once.
func (c *Config) InUse() []string {
	names := slices.Concat(c.Filter, c.Prioritize)
	slices.Sort(names)
	return slices.Compact(names)
}
