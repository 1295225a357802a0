package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Load returns the configuration of the file, or of no file if path is empty,
// with the flags that were given put over it. It is complete and valid.
func Load(path string, flags Flags) (*Config, error) {
	c := Default()
	if path != "" {
		if err := c.readFile(path); err != nil {
			return nil, err
		}
	}
	if err := flags.apply(c); err != nil {
		return nil, err
	}
	if err := c.Complete(); err != nil {
		if path != "" {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return nil, err
	}
	return c, nil
}

func (c *Config) readFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := c.decode(data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// errNothing refuses a file that says nothing: that is one which was emptied by
// accident, or is about to be written, more often than a wish for the defaults.
var errNothing = errors.New("there is nothing in it but comments and blanks: write {} if everything is to be as it is by default, " +
	"or restore what it was; --print-config shows all that can be set")

// decode refuses unknown and repeated fields, and a text without any.
func (c *Config) decode(data []byte) error {
	if err := checkForm(data); err != nil {
		return err
	}
	converted, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return err
	}
	if string(converted) == "null" {
		return errNothing
	}
	strict, err := kjson.UnmarshalStrict(converted, c)
	if err != nil {
		return err
	}
	return errors.Join(append(strict, c.checkAlgorithms(yamlcheck.Parse(data)))...)
}

// Complete fills in what follows from the rest, down to the defaults of each
// algorithm, and validates. It must be called on a Config that was not loaded.
func (c *Config) Complete() error {
	if mode, renamed := formerly[c.Mode]; renamed {
		c.Mode = mode
	}
	both := c.Algorithm
	c.Algorithm = ""
	if c.Filter == nil {
		c.Filter = []string{or(both, "regex")}
	}
	if c.Prioritize == nil {
		c.Prioritize = []string{or(both, "nop")}
	}
	if err := c.completeAlgorithms(); err != nil {
		return err
	}
	return c.validate()
}

func or(name, otherwise string) string {
	if name != "" {
		return name
	}
	return otherwise
}

// completeAlgorithms gives every name an entry, with its whole config in it.
func (c *Config) completeAlgorithms() error {
	entries := make(map[string]Algorithm)
	for name, entry := range c.Algorithms {
		entries[name] = entry
	}
	for _, name := range c.InUse() {
		if _, ok := entries[name]; !ok {
			entries[name] = Algorithm{}
		}
	}
	var problems []error
	for name, entry := range entries {
		entry.Kind = or(entry.Kind, name)
		entry.Weight = max(entry.Weight, 1)
		if c.Algorithms[name].Weight < 0 {
			problems = append(problems, fmt.Errorf("algorithms.%s.weight: must be at least 1", name))
		}
		resolved, err := algorithm.Resolve(entry.Kind, entry.Config)
		if err != nil {
			problems = append(problems, fmt.Errorf("algorithms.%s: %w", name, err))
			continue
		}
		if entry.Config, err = json.Marshal(resolved); err != nil {
			problems = append(problems, fmt.Errorf("algorithms.%s: %w", name, err))
		}
		entries[name] = entry
	}
	c.Algorithms = entries
	return joined(problems)
}
