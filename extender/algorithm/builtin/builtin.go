// Package builtin has the algorithms that the extender comes with, by kind. It is no API.
package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/load"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/lucky"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/nop"
	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/regex"
)

// Kinds has the default config of each kind, a new one for each call.
var Kinds = map[string]func() algorithm.Config{"load": load.Default, "lucky": lucky.Default, "nop": nop.Default, "regex": regex.Default}

// Names are those of the kinds, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Kinds)) }

// Resolve returns the config that an algorithm of a kind gets from a user's
// JSON, which may be empty: defaults filled in, unknown fields refused, valid.
func Resolve(kind string, raw []byte) (algorithm.Config, error) {
	newConfig, ok := Kinds[kind]
	if !ok {
		return nil, fmt.Errorf("no algorithm is called %q: there are %s", kind, strings.Join(Names(), ", "))
	}
	config := newConfig()
	var err error
	if len(bytes.TrimSpace(raw)) > 0 {
		var strict []error
		strict, err = kjson.UnmarshalStrict(raw, config)
		err = errors.Join(append(strict, err)...)
	}
	if err == nil {
		err = config.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return config, nil
}
