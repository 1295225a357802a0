package extender

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
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
	Body     resource.Quantity `json:"body"`     // of one request
	Buffers  resource.Quantity `json:"buffers"`  // memory for all requests: bodies, and what is built from them
	Requests int               `json:"requests"` // that have arrived completely and have no answer yet
	Header   resource.Quantity `json:"header"`   // of one request
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
		Listen: "127.0.0.1:8000",
		Limits: Limits{
			Body:     resource.MustParse("128Mi"),
			Buffers:  resource.MustParse("512Mi"),
			Requests: 1024,
			Header:   resource.MustParse("16Ki"),
		},
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
