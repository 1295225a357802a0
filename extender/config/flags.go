package config

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// Options are the flags that are not part of the configuration.
type Options struct {
	File  string // of the configuration, or empty
	Print bool
}

// Parse reads a command line and its configuration file. The configuration is complete and
// valid.
func Parse(args []string) (*Config, Options, error) {
	c, o := Default(), Options{}
	if err := c.parseFlags(args, &o); err != nil {
		return nil, o, err
	}
	if o.File == "" {
		return c, o, c.Complete()
	}
	data, err := os.ReadFile(o.File)
	if err != nil {
		return nil, o, err
	}
	c = Default()
	err = c.decode(data)
	if err == nil {
		_ = c.parseFlags(args, &o) // no error: it was parsed before
		err = c.Complete()
	}
	if err != nil {
		return nil, o, fmt.Errorf("%s: %w", o.File, err)
	}
	return c, o, nil
}

// Load is Parse for a file and flags. The path may be empty.
func Load(path string, flags ...string) (*Config, error) {
	c, _, err := Parse(append([]string{"--config=" + path}, flags...))
	return c, err
}

// Flags are the flags of Parse, for the help.
func Flags() *pflag.FlagSet {
	set, _ := Default().flags(&Options{})
	return set
}

// flags returns the flags that set c and o, and the one for the algorithm of both verbs.
func (c *Config) flags(o *Options) (set *pflag.FlagSet, both *string) {
	set = pflag.NewFlagSet("extender", pflag.ContinueOnError)
	set.StringVar(&o.File, "config", "", "configuration `file`")
	set.BoolVar(&o.Print, "print-config", false, "print the configuration with everything filled in, and exit")
	set.StringVar(&c.Listen, "listen", c.Listen, "`address` to serve on")
	both = set.String("algorithm", "", "`name` of the algorithm for both verbs")
	set.StringVar(&c.Filter, "filter", c.Filter, "`name` of the algorithm that filters (default regex)")
	set.StringVar(&c.Prioritize, "prioritize", c.Prioritize, "`name` of the algorithm that prioritizes (default regex)")
	set.StringVar(&c.TLS.CertFile, "tls-cert-file", c.TLS.CertFile, "`file` with the certificate for TLS")
	set.StringVar(&c.TLS.KeyFile, "tls-private-key-file", c.TLS.KeyFile, "`file` with the key of the certificate")
	set.StringVar(&c.TLS.ClientCAFile, "client-ca-file", c.TLS.ClientCAFile, "`file` with the authorities that must have signed the certificates of clients")
	set.StringVar(&c.LogFormat, "log-format", c.LogFormat, "`format` of the log: text or json")
	set.IntVarP(&c.Verbosity, "v", "v", c.Verbosity, "`verbosity` of the log, from 0 to 10: 4 logs each request, 5 each node too")
	return set, both
}

// parseFlags sets c and o by the flags that are given.
func (c *Config) parseFlags(args []string, o *Options) error {
	set, both := c.flags(o)
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("%q: takes flags only", set.Arg(0))
	}
	for verb, name := range map[string]*string{"filter": &c.Filter, "prioritize": &c.Prioritize} {
		if set.Changed("algorithm") && !set.Changed(verb) {
			*name = *both
		}
	}
	return nil
}
