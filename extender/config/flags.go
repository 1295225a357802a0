package config

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/extender/logging"
)

// Flags are the command line's part of the configuration: the values that were
// given, by flag. They win over the file.
type Flags map[string][]string

// flags are all that there are, in the order in which they are applied: --filter
// and --prioritize win over --algorithm.
var flags = []struct {
	name, short, usage string
	apply              func(c *Config, values []string) error
}{
	{"listen", "", "`address` to serve on (default 127.0.0.1:8000)", text(func(c *Config) *string { return &c.Listen })},
	{"mode", "", "`form` of the requests to answer: auto, full-nodes or names (default auto)", text(func(c *Config) *string { return (*string)(&c.Mode) })},
	{"algorithm", "", "`name` of the algorithm for both verbs", func(c *Config, values []string) error {
		name := values[len(values)-1]
		c.Filter, c.Prioritize = []string{name}, []string{name}
		return nil
	}},
	{"filter", "", "`names` of the algorithms that filter, in order (default regex)", list(func(c *Config) *[]string { return &c.Filter })},
	{"prioritize", "", "`names` of the algorithms that prioritize (default nop)", list(func(c *Config) *[]string { return &c.Prioritize })},
	{"tls-cert-file", "", "`file` with the certificate to serve TLS with", text(func(c *Config) *string { return &c.TLS.CertFile })},
	{"tls-private-key-file", "", "`file` with the key of the certificate", text(func(c *Config) *string { return &c.TLS.KeyFile })},
	{"client-ca-file", "", "`file` with the authorities of the certificates that clients must show", text(func(c *Config) *string { return &c.TLS.ClientCAFile })},
	{"log-format", "", "`format` of the log: text or json (default text)", text(func(c *Config) *string { return &c.LogFormat })},
	{"v", "v", "`level` of all loggers: error, warning, info, debug, trace or a number (default info)", func(c *Config, values []string) error {
		return c.setLevel(logging.Default, values[len(values)-1])
	}},
	{"logger", "", "`logger=level`, as in algorithm.load=debug; for several, separated by commas", func(c *Config, values []string) error {
		for _, pair := range strings.Split(strings.Join(values, ","), ",") {
			name, level, ok := strings.Cut(pair, "=")
			if !ok {
				return fmt.Errorf("%q: must be logger=level", pair)
			}
			if err := c.setLevel(strings.TrimSpace(name), level); err != nil {
				return err
			}
		}
		return nil
	}},
}

func text(field func(*Config) *string) func(*Config, []string) error {
	return func(c *Config, values []string) error {
		*field(c) = values[len(values)-1]
		return nil
	}
}

func list(field func(*Config) *[]string) func(*Config, []string) error {
	return func(c *Config, values []string) error {
		*field(c) = strings.Split(strings.Join(values, ","), ",")
		return nil
	}
}

func (c *Config) setLevel(logger, text string) error {
	level, err := logging.ParseLevel(text)
	if c.Loggers == nil {
		c.Loggers = make(map[string]logging.Level)
	}
	c.Loggers[logger] = level
	return err
}

// NewFlags defines the flags in set. Values that cannot be are mistakes when set
// is parsed.
func NewFlags(set *pflag.FlagSet) Flags {
	given := Flags{}
	for _, flag := range flags {
		set.FuncP(flag.name, flag.short, flag.usage, func(value string) error {
			given[flag.name] = append(given[flag.name], value)
			return flag.apply(new(Config), []string{value})
		})
	}
	return given
}

// apply puts the flags that were given over c.
func (f Flags) apply(c *Config) error {
	for _, flag := range flags {
		if values := f[flag.name]; values != nil {
			if err := flag.apply(c, values); err != nil {
				return fmt.Errorf("--%s: %w", flag.name, err)
			}
		}
	}
	return nil
}
