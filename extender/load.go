package extender

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// errEmpty rejects a file without a field: in most cases it was emptied by accident, or is
// being written.
var errEmpty = errors.New("the file has no field: write {} for the defaults; --print-config shows every field")

// decode rejects unknown and repeated fields, and a text without any. It returns all
// mistakes with their lines.
func (c *Config) decode(data []byte) error {
	text := yamlcheck.Parse(data)
	all, err := yamlcheck.Documents(data)
	_, root := text.Find("")
	switch {
	case len(all) > 1:
		return fmt.Errorf("there are %d documents in it, and only one is read: put everything into one, without a line \"---\" between", len(all))
	case err != nil:
		return err
	case root == nil || isNull(root):
		return errEmpty
	}
	problems := slices.Concat(text.Keys(), unread(root, ""), text.Check(c))
	slices.SortStableFunc(problems, func(a, b yamlcheck.Problem) int { return cmp.Compare(a.Line, b.Line) })
	var errs []error
	for _, p := range problems {
		errs = append(errs, fmt.Errorf("line %d: %s: %s", p.Line, p.Field, p.Message))
	}
	return errors.Join(errs...)
}

// unread finds what the decoder ignores in a value: custom tags, and nulls.
func unread(n *goyaml.Node, path string) (all yamlcheck.Problems) {
	switch {
	case n.Style&goyaml.TaggedStyle != 0 && !strings.HasPrefix(n.ShortTag(), "!!"):
		all = append(all, yamlcheck.Problem{Field: path, Line: n.Line, Message: "has the tag " + n.Tag + ", which is not supported: remove the tag"})
	case isNull(n):
		all = append(all, yamlcheck.Problem{Field: path, Line: n.Line, Message: "has no value: set one, or remove the field"})
	}
	for i, child := range n.Content {
		switch {
		case n.Kind == goyaml.SequenceNode:
			all = append(all, unread(child, fmt.Sprintf("%s[%d]", path, i))...)
		case i%2 == 1:
			all = append(all, unread(child, strings.TrimPrefix(path+"."+n.Content[i-1].Value, "."))...)
		}
	}
	return all
}

func isNull(n *goyaml.Node) bool { return n.Kind == goyaml.ScalarNode && n.Tag == "!!null" }

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
	set.IntVarP(&c.Verbosity, "v", "v", c.Verbosity, "`verbosity` of the log, from 0 to 10: 4 logs each request")
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
