package config

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/logging"
)

// Flags are the command line's part of the configuration. They win over the
// file, also when it is read again.
type Flags struct {
	set    *pflag.FlagSet
	values Config
	level  string
	levels map[string]string
	take   map[string]func(*Config)
}

// NewFlags defines the flags in set.
func NewFlags(set *pflag.FlagSet) *Flags {
	f := &Flags{set: set, take: map[string]func(*Config){}}
	v, d := &f.values, Default()
	f.text(&v.Listen, "listen", d.Listen, "address to serve on", func(c *Config) { c.Listen = v.Listen })
	f.text((*string)(&v.Mode), "mode", string(d.Mode), "requests to answer: auto, full-nodes or names", func(c *Config) { c.Mode = v.Mode })
	f.text(&v.Algorithm, "algorithm", "", "algorithm for both verbs", func(c *Config) {
		c.Filter, c.Prioritize = []string{v.Algorithm}, []string{v.Algorithm}
	})
	f.list(&v.Filter, "filter", []string{"regex"}, "algorithms that filter, in order", func(c *Config) { c.Filter = v.Filter })
	f.list(&v.Prioritize, "prioritize", []string{"nop"}, "algorithms that prioritize", func(c *Config) { c.Prioritize = v.Prioritize })
	f.text(&v.TLS.CertFile, "tls-cert-file", "", "certificate to serve TLS with", func(c *Config) { c.TLS.CertFile = v.TLS.CertFile })
	f.text(&v.TLS.KeyFile, "tls-private-key-file", "", "key of the certificate", func(c *Config) { c.TLS.KeyFile = v.TLS.KeyFile })
	f.text(&v.TLS.ClientCAFile, "client-ca-file", "", "authorities of the certificates that clients must show", func(c *Config) { c.TLS.ClientCAFile = v.TLS.ClientCAFile })
	f.text(&v.LogFormat, "log-format", d.LogFormat, "text or json", func(c *Config) { c.LogFormat = v.LogFormat })
	set.StringVarP(&f.level, "v", "v", "info", "level of all loggers: error, warning, info, debug, trace or a number")
	set.StringToStringVar(&f.levels, "logger", nil, "level of a logger, as in algorithm.load=debug")
	return f
}

func (f *Flags) text(value *string, name, otherwise, usage string, take func(*Config)) {
	f.set.StringVar(value, name, otherwise, usage)
	f.take[name] = take
}

func (f *Flags) list(value *[]string, name string, otherwise []string, usage string, take func(*Config)) {
	f.set.StringSliceVar(value, name, otherwise, usage)
	f.take[name] = take
}

// apply puts the flags that were given over c. They are in lexical order, so
// that --filter and --prioritize win over --algorithm.
func (f *Flags) apply(c *Config) {
	f.set.Visit(func(flag *pflag.Flag) {
		if take := f.take[flag.Name]; take != nil {
			take(c)
		}
	})
	for name, level := range f.loggerLevels() {
		if c.Loggers == nil {
			c.Loggers = make(map[string]logging.Level)
		}
		c.Loggers[name] = level
	}
}

// Validate checks what the flags' types do not.
func (f *Flags) Validate() error {
	if _, err := logging.ParseLevel(f.level); err != nil {
		return fmt.Errorf("-v: %w", err)
	}
	for name, level := range f.levels {
		if _, err := logging.ParseLevel(level); err != nil {
			return fmt.Errorf("--logger %s: %w", name, err)
		}
	}
	return nil
}

func (f *Flags) loggerLevels() map[string]logging.Level {
	levels := make(map[string]logging.Level)
	if f.set.Changed("v") {
		levels[logging.Default], _ = logging.ParseLevel(f.level)
	}
	for name, level := range f.levels {
		levels[strings.TrimSpace(name)], _ = logging.ParseLevel(level)
	}
	return levels
}
