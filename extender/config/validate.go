package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/logging"
)

// InUse are the names of the algorithms that some verb uses, each once.
func (c *Config) InUse() []string {
	names := slices.Concat(c.Filter, c.Prioritize)
	slices.Sort(names)
	return slices.Compact(names)
}

// YAML is the configuration as a file that would give the same.
func (c *Config) YAML() ([]byte, error) { return yaml.Marshal(c) }

// joined puts the problems in a steady order.
func joined(problems []error) error {
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// validate finds everything that is wrong. Each problem begins with its field.
func (c *Config) validate() error {
	var problems []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	_, _, err := net.SplitHostPort(c.Listen)
	refuse(err != nil, "listen: %q: must be host:port", c.Listen)
	refuse(!slices.Contains([]Mode{Auto, FullNodes, Names}, c.Mode), "mode: %q: must be auto, full-nodes or names", c.Mode)
	refuse(len(c.Filter) == 0, "filter: must name an algorithm; nop lets everything pass")
	refuse(len(c.Prioritize) == 0, "prioritize: must name an algorithm; nop prefers nothing")
	refuse(repeats(c.Filter), "filter: names an algorithm twice")
	refuse(repeats(c.Prioritize), "prioritize: names an algorithm twice; give it more weight instead")
	refuse(c.LogFormat != logging.Text && c.LogFormat != logging.JSON, "logFormat: %q: must be text or json", c.LogFormat)
	refuse((c.TLS.CertFile == "") != (c.TLS.KeyFile == ""), "tls.certFile: must be set together with tls.keyFile")
	refuse(c.TLS.ClientCAFile != "" && !c.TLS.Enabled(), "tls.clientCAFile: needs tls.certFile and tls.keyFile too")
	unknown := c.unknownLoggers()
	refuse(len(unknown) > 0, "loggers: none is called %s: there are %s", strings.Join(unknown, ", "), strings.Join(c.loggers(), ", "))
	c.Limits.validate(refuse)
	c.Timeouts.validate(refuse)
	return joined(problems)
}

// loggers are the names of all that can log.
func (c *Config) loggers() []string {
	algorithms := slices.AppendSeq(algorithm.Kinds(), maps.Keys(c.Algorithms))
	slices.Sort(algorithms)
	names := []string{logging.Default, "server", "server.nodes", "tls", "algorithm"}
	for _, name := range slices.Compact(algorithms) {
		names = append(names, "algorithm."+name)
	}
	return names
}

// unknownLoggers are the names, quoted, of loggers that have a level and are not
// there.
func (c *Config) unknownLoggers() (unknown []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Loggers)) {
		if !slices.Contains(c.loggers(), name) {
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	return unknown
}

func repeats(names []string) bool {
	sorted := slices.Sorted(slices.Values(names))
	return len(slices.Compact(sorted)) < len(names)
}

func (l *Limits) validate(refuse func(bool, string, ...any)) {
	for name, size := range map[string]resource.Quantity{"body": l.Body, "buffers": l.Buffers, "header": l.Header} {
		refuse(size.Value() < 4096 || size.Value() > math.MaxInt32 && name != "buffers", "limits.%s: %s: must be from 4Ki to 2Gi", name, &size)
	}
	refuse(l.Buffers.Cmp(l.Body) <= 0, "limits.buffers: %s: must be more than limits.body, or such a body has no room", &l.Buffers)
	refuse(l.Requests < 1, "limits.requests: must be at least 1")
}

func (t *Timeouts) validate(refuse func(bool, string, ...any)) {
	for name, d := range map[string]metav1.Duration{"header": t.Header, "read": t.Read, "write": t.Write, "idle": t.Idle, "drain": t.Drain} {
		refuse(d.Duration <= 0, "timeouts.%s: must be more than 0", name)
	}
	refuse(t.Unready.Duration < 0, "timeouts.unready: must not be less than 0")
	refuse(t.Read.Duration < t.Header.Duration, "timeouts.read: must be at least timeouts.header, which it includes")
}
