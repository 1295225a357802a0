package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// oneOf is a flag with some values.
type oneOf struct {
	value *string
	all   []string
}

// OneOf makes a flag that takes one of some values. What it has now is the default, which
// may be none of them.
func OneOf(value *string, all ...string) pflag.Value { return oneOf{value, all} }

func (o oneOf) String() string { return *o.value }

// Type implements pflag.Value: help shows it behind the flag.
func (o oneOf) Type() string { return "string" }

func (o oneOf) Set(value string) error {
	if !slices.Contains(o.all, value) {
		last := len(o.all) - 1
		return fmt.Errorf("use %s", strings.Trim(strings.Join(o.all[:last], ", ")+" or "+o.all[last], " or"))
	}
	*o.value = value
	return nil
}
