package extender

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Complete sets the defaults that depend on other fields, and validates. Call it on a Config
// that was not loaded.
func (c *Config) Complete() error {
	c.Filter = cmp.Or(c.Filter, c.Algorithm, "regex")
	c.Prioritize = cmp.Or(c.Prioritize, c.Algorithm, "regex")
	c.Algorithm = ""
	problems := c.validate()
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// InUse returns the names of the algorithms of both verbs, each once.
func (c *Config) InUse() []string {
	names := []string{c.Filter, c.Prioritize}
	slices.Sort(names)
	return slices.Compact(names)
}

// validate returns all mistakes. Each begins with its field.
func (c *Config) validate() (problems []error) {
	reject := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	for verb, name := range map[string]string{"filter": c.Filter, "prioritize": c.Prioritize} {
		reject(Make[name] == nil, "%s: no algorithm is called %q: use one of %s", verb, name, strings.Join(algorithmNames(), ", "))
	}
	a := c.Algorithms
	for name, err := range map[string]error{"load": a.Load.Config.Validate(), "lucky": a.Lucky.Config.Validate(), "regex": a.Regex.Config.Validate()} {
		reject(err != nil, "algorithms.%s.config: %w", name, err)
	}
	_, _, err := net.SplitHostPort(c.Listen)
	reject(err != nil, "listen: %q: must be host:port", c.Listen)
	reject(c.LogFormat != LogText && c.LogFormat != LogJSON, "logFormat: %q: must be text or json", c.LogFormat)
	reject((c.TLS.CertFile == "") != (c.TLS.KeyFile == ""), "tls.certFile: must be set together with tls.keyFile")
	reject(c.TLS.ClientCAFile != "" && !c.TLS.Enabled(), "tls.clientCAFile: needs tls.certFile and tls.keyFile too")

	l, t := &c.Limits, &c.Timeouts
	for name, size := range map[string]resource.Quantity{"body": l.Body, "buffers": l.Buffers, "header": l.Header} {
		reject(size.Value() < 4096 || size.Value() > math.MaxInt32 && name != "buffers", "limits.%s: %s: must be from 4Ki to 2Gi", name, &size)
	}
	reject(l.Buffers.Cmp(l.Body) <= 0, "limits.buffers: %s: must be more than limits.body", &l.Buffers)
	reject(l.Requests < 1, "limits.requests: must be at least 1")
	for name, d := range map[string]time.Duration{"read": t.Read.Duration, "drain": t.Drain.Duration} {
		reject(d <= 0, "timeouts.%s: must be more than 0", name)
	}
	reject(t.Unready.Duration < 0, "timeouts.unready: must not be less than 0")

	reject(c.Verbosity < 0 || c.Verbosity > 10, "verbosity: %d: must be from 0 to 10", c.Verbosity)
	return problems
}
