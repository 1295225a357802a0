package extender

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// ParseConfig reads a command line and its configuration file. The configuration is complete
// and valid; onlyPrint is --print-config.
func ParseConfig(args []string) (c *Config, onlyPrint bool, err error) {
	c = DefaultConfig()
	file, onlyPrint, err := c.parseFlags(args)
	if err != nil {
		return nil, false, err
	}
	if file == "" {
		return c, onlyPrint, c.Complete()
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, false, err
	}
	c = DefaultConfig()
	err = c.decode(data)
	if err == nil {
		_, _, _ = c.parseFlags(args) // no error: it was parsed before
		err = c.Complete()
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", file, err)
	}
	return c, onlyPrint, nil
}

// LoadConfig is ParseConfig for a file and flags. The path may be empty.
func LoadConfig(path string, flags ...string) (*Config, error) {
	c, _, err := ParseConfig(append([]string{"--config=" + path}, flags...))
	return c, err
}

// Flags are the flags of ParseConfig, for the help.
func Flags() *pflag.FlagSet { return DefaultConfig().flags() }

// flags returns the flags. Most set c.
func (c *Config) flags() *pflag.FlagSet {
	set := pflag.NewFlagSet("extender", pflag.ContinueOnError)
	set.String("config", "", "configuration `file`")
	set.Bool("print-config", false, "print the configuration with everything filled in, and exit")
	set.StringVar(&c.Listen, "listen", c.Listen, "`address` to serve on")
	set.String("algorithm", "", "`name` of the algorithm for both verbs")
	set.StringVar(&c.Filter, "filter", c.Filter, "`name` of the algorithm that filters (default regex)")
	set.StringVar(&c.Prioritize, "prioritize", c.Prioritize, "`name` of the algorithm that prioritizes (default regex)")
	set.StringVar(&c.TLS.CertFile, "tls-cert-file", c.TLS.CertFile, "`file` with the certificate for TLS")
	set.StringVar(&c.TLS.KeyFile, "tls-private-key-file", c.TLS.KeyFile, "`file` with the key of the certificate")
	set.StringVar(&c.TLS.ClientCAFile, "client-ca-file", c.TLS.ClientCAFile, "`file` with the authorities that must have signed the certificates of clients")
	set.StringVar(&c.LogFormat, "log-format", c.LogFormat, "`format` of the log: text or json")
	set.IntVarP(&c.Verbosity, "v", "v", c.Verbosity, "`verbosity` of the log, from 0 to 10: 4 logs each request, 5 each node too")
	return set
}

// parseFlags sets c by the flags that are given, and returns the flags that are not part of it.
func (c *Config) parseFlags(args []string) (file string, onlyPrint bool, err error) {
	set := c.flags()
	if err := set.Parse(args); err != nil {
		return "", false, err
	}
	if set.NArg() > 0 {
		return "", false, fmt.Errorf("%q: takes flags only", set.Arg(0))
	}
	if set.Changed("algorithm") {
		both, _ := set.GetString("algorithm")
		for verb, name := range map[string]*string{"filter": &c.Filter, "prioritize": &c.Prioritize} {
			if !set.Changed(verb) {
				*name = both
			}
		}
	}
	file, _ = set.GetString("config")
	onlyPrint, _ = set.GetBool("print-config")
	return file, onlyPrint, nil
}
