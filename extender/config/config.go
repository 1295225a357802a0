// Package config is the extender's configuration: one file, flags that win over it,
// defaults under it, all of it decoded strictly and validated here. Each algorithm
// has a type for its own part. It is no API.
package config

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/extender/logging"
)

// Config is the whole configuration. docs/extender.md explains it to users.
type Config struct {
	Listen string `json:"listen"` // the address to serve on

	// Algorithm names one algorithm for both verbs, if Filter and Prioritize
	// do not say otherwise.
	Algorithm string `json:"algorithm,omitempty"`
	// Filter and Prioritize name the algorithm of each verb.
	Filter     string     `json:"filter"`
	Prioritize string     `json:"prioritize"`
	Algorithms Algorithms `json:"algorithms"`

	TLS      TLS      `json:"tls"`
	Limits   Limits   `json:"limits"`
	Timeouts Timeouts `json:"timeouts"`

	Verbosity int    `json:"verbosity"` // of the log, klog's -v: 0 to 10
	LogFormat string `json:"logFormat"` // text or json
}

// TLS names the files to serve TLS with. They are read again when they change.
type TLS struct {
	CertFile string `json:"certFile,omitempty"`
	KeyFile  string `json:"keyFile,omitempty"`
	// ClientCAFile makes clients show a certificate of these authorities,
	// except for /healthz and /readyz.
	ClientCAFile string `json:"clientCAFile,omitempty"`
}

// Enabled reports whether TLS is served at all.
func (t TLS) Enabled() bool { return t.CertFile != "" }

// Limits bound what requests can take.
type Limits struct {
	Body     resource.Quantity `json:"body"`     // of one request
	Buffers  resource.Quantity `json:"buffers"`  // memory for all requests: bodies, and what is made of them
	Requests int               `json:"requests"` // that have arrived and have no answer yet
	Header   resource.Quantity `json:"header"`   // of one request
}

// Timeouts bound how long things can take.
type Timeouts struct {
	Read metav1.Duration `json:"read"` // for all of a request to arrive
	// Unready is how long requests are still answered after readiness is off,
	// so that no new ones are sent when connections are refused.
	Unready metav1.Duration `json:"unready"`
	// Drain is how long requests in flight are waited for after that.
	Drain metav1.Duration `json:"drain"`
}

// Default is the configuration if nothing is set. Its limits suit
// requests with 5,000 full nodes, 31 MB each.
func Default() *Config {
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
		LogFormat:  logging.Text,
	}
}

func seconds(n int) metav1.Duration {
	return metav1.Duration{Duration: time.Duration(n) * time.Second}
}

// YAML is the configuration as a file that would give the same.
func (c *Config) YAML() ([]byte, error) { return yaml.Marshal(c) }
