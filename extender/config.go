package extender

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	logsapi "k8s.io/component-base/logs/api/v1"
	logsjson "k8s.io/component-base/logs/json"
	"k8s.io/klog/v2/textlogger"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// Config is the whole configuration: defaults, a file, and flags, which take precedence in
// this order. docs/extender.md explains it to users.
type Config struct {
	Listen string `json:"listen"` // the address to serve on

	// Algorithm is the default of Filter and Prioritize.
	Algorithm string `json:"algorithm,omitempty"`
	// Filter and Prioritize are the algorithms of the verbs.
	Filter     string     `json:"filter"`
	Prioritize string     `json:"prioritize"`
	Algorithms Algorithms `json:"algorithms"`

	TLS      TLS      `json:"tls"`
	Limits   Limits   `json:"limits"`
	Timeouts Timeouts `json:"timeouts"`

	Verbosity int    `json:"verbosity"` // of the log, klog's -v: 0 to 10
	LogFormat string `json:"logFormat"` // text or json
}

// TLS names the files for TLS. Changed ones are reloaded at the next connection.
type TLS struct {
	CertFile string `json:"certFile,omitempty"`
	KeyFile  string `json:"keyFile,omitempty"`
	// ClientCAFile requires clients to have a certificate of these authorities, except
	// for /healthz and /readyz.
	ClientCAFile string `json:"clientCAFile,omitempty"`
}

// Enabled reports whether TLS is on.
func (t TLS) Enabled() bool { return t.CertFile != "" }

// Limits bound what requests can take.
type Limits struct {
	Buffers resource.Quantity `json:"buffers"` // memory for all requests: bodies, and what is built from them
}

// Timeouts bound how long things can take.
type Timeouts struct {
	Read metav1.Duration `json:"read"` // for all of a request to arrive
	// Unready is how long requests are still answered after readiness is off, so that
	// a Service stops sending before connections are refused.
	Unready metav1.Duration `json:"unready"`
	// Drain is how long requests in flight may take after that.
	Drain metav1.Duration `json:"drain"`
}

// DefaultConfig is the default configuration. Its limits fit requests with 5,000 full nodes, 31 MB
// each.
func DefaultConfig() *Config {
	return &Config{
		Listen:     "127.0.0.1:8000",
		Limits:     Limits{Buffers: resource.MustParse("512Mi")},
		Algorithms: defaultAlgorithms(),
		Timeouts:   Timeouts{Read: seconds(30), Unready: seconds(5), Drain: seconds(30)},
		LogFormat:  LogText,
	}
}

func seconds(n int) metav1.Duration {
	return metav1.Duration{Duration: time.Duration(n) * time.Second}
}

// YAML returns a file with this configuration.
func (c *Config) YAML() ([]byte, error) { return yaml.Marshal(c) }

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
		reject(registered[name] == nil, "%s: no algorithm is called %q: use one of %s", verb, name, strings.Join(algorithmNames(), ", "))
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

	reject(c.Limits.Buffers.Value() < 64<<10, "limits.buffers: %s: must be at least 64Ki", &c.Limits.Buffers)
	for name, d := range map[string]time.Duration{"read": c.Timeouts.Read.Duration, "drain": c.Timeouts.Drain.Duration} {
		reject(d <= 0, "timeouts.%s: must be more than 0", name)
	}
	reject(c.Timeouts.Unready.Duration < 0, "timeouts.unready: must not be less than 0")

	reject(c.Verbosity < 0 || c.Verbosity > 10, "verbosity: %d: must be from 0 to 10", c.Verbosity)
	return problems
}

// The formats of log lines.
const (
	LogText = "text"
	LogJSON = "json"
)

// NewLogger returns a logger of klog's verbosity, 0 to 10. It writes lines of a format to w,
// each in one call. It panics on any other format.
func NewLogger(w io.Writer, format string, verbosity int) logr.Logger {
	switch format {
	case LogText:
		return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(printable.Writer(w)), textlogger.Verbosity(verbosity)))
	case LogJSON:
		logger, _ := logsjson.NewJSONLogger(logsapi.VerbosityLevel(verbosity), zapcore.Lock(zapcore.AddSync(w)), nil, nil)
		return logger
	}
	panic(fmt.Sprintf("extender: unknown log format %q", format))
}
