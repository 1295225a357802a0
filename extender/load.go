package extender

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// errEmpty rejects a file without a field: in most cases it was emptied by accident, or is
// being written.
var errEmpty = errors.New("the file has no field: write {} for the defaults; --print-config shows every field")

// decode rejects unknown and repeated fields, and a text without any. It returns all
// mistakes with their lines.
func (c *Config) decode(data []byte) error {
	all, err := yamlcheck.Documents(data)
	switch {
	case len(all) > 1:
		return fmt.Errorf("there are %d documents in it, and only one is read: put everything into one, without a line \"---\" between", len(all))
	case err != nil:
		return err
	case len(all) == 0:
		return errEmpty
	}
	problems := slices.Concat(all[0].Keys(), all[0].Check(c))
	slices.SortStableFunc(problems, func(a, b yamlcheck.Problem) int { return cmp.Compare(a.Line, b.Line) })
	var errs []error
	for _, p := range problems {
		errs = append(errs, fmt.Errorf("line %d: %s: %s", p.Line, p.Field, p.Message))
	}
	return errors.Join(errs...)
}

// LoadConfig reads a configuration file, unless path is empty, and flags, which take precedence.
// The configuration is complete and valid.
func LoadConfig(path string, flags ...string) (*Config, error) {
	c := DefaultConfig()
	if path != "" {
		data, err := readfile.All(path)
		if err != nil {
			return nil, err
		}
		if err := c.decode(data); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := c.parseFlags(flags); err != nil {
		return nil, err
	}
	err := c.Complete()
	if err != nil && path != "" {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return c, err
}

// Flags are the flags of LoadConfig, for the command line. --config and --print-config are for the command.
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
	set.VarP(cli.Number(&c.Verbosity, 0, 10), "v", "v", "`verbosity` of the log, from 0 to 10: 4 logs each request")
	return set
}

// parseFlags sets c by the flags that are given.
func (c *Config) parseFlags(args []string) error {
	set := c.flags()
	if err := set.Parse(args); err != nil {
		return err
	}
	both, _ := set.GetString("algorithm")
	for verb, name := range map[string]*string{"filter": &c.Filter, "prioritize": &c.Prioritize} {
		if both != "" && !set.Changed(verb) {
			*name = both
		}
	}
	return nil
}
