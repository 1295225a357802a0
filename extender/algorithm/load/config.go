package load

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// The values of Better.
const (
	Less = "less"
	More = "more"
)

// Config is what to query, and how a value becomes a score.
type Config struct {
	URL string `json:"url"` // of Prometheus, with its path prefix if it has one
	// Measure selects a query of the extender, for node_exporter: cpu or memory, the
	// share of each node that is in use.
	Measure   string `json:"measure,omitempty"`
	Query     string `json:"query,omitempty"` // PromQL with one value per node, instead of Measure
	NodeLabel string `json:"nodeLabel"`       // holds the node's name; a port after it is cut
	Better    string `json:"better"`          // Less or More
	// Min and Max are the values that get the extreme scores. Values beyond are
	// clamped.
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Missing int64   `json:"missing"` // the score of a node without a value
	// Threshold filters out the nodes whose value is worse. Unset: none.
	Threshold       *float64        `json:"threshold,omitempty"`
	Interval        metav1.Duration `json:"interval"`                  // between two queries
	Timeout         metav1.Duration `json:"timeout"`                   // for one
	StaleAfter      metav1.Duration `json:"staleAfter"`                // the age from which values no longer count
	BearerTokenFile string          `json:"bearerTokenFile,omitempty"` // read for every query
	TLS             TLS             `json:"tls,omitempty"`             // for https
}

// TLS has the authority of Prometheus and a client certificate.
type TLS struct {
	CAFile             string `json:"caFile,omitempty"`
	CertFile           string `json:"certFile,omitempty"`
	KeyFile            string `json:"keyFile,omitempty"`
	ServerName         string `json:"serverName,omitempty"`
	InsecureSkipVerify bool   `json:"insecureSkipVerify,omitempty"`
}

// Default queries the CPU usage of a Prometheus on this machine.
func Default() Config {
	return Config{
		URL: "http://127.0.0.1:9090", NodeLabel: "instance", Better: Less, Min: 0, Max: 1, Missing: algorithm.Neutral,
		Interval:   metav1.Duration{Duration: 15 * time.Second},
		Timeout:    metav1.Duration{Duration: 5 * time.Second},
		StaleAfter: metav1.Duration{Duration: time.Minute},
	}
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Validate checks what can be checked without a query.
func (c Config) Validate() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("url: %q: must be http(s)://host[:port][/prefix], with nothing after it and no password in it", printable.URL(c.URL))
	case c.Query != "" && c.Measure != "":
		return errors.New("query: cannot be set together with measure")
	case c.Measure != "" && queries[c.Measure] == "":
		return fmt.Errorf("measure: %q: must be cpu or memory; set query for anything else", c.Measure)
	case !labelName.MatchString(c.NodeLabel):
		return fmt.Errorf("nodeLabel: %q: must be the name of a label", c.NodeLabel)
	case c.Better != Less && c.Better != More:
		return fmt.Errorf("better: %q: must be less or more", c.Better)
	case !(c.Min < c.Max) || math.IsInf(c.Max-c.Min, 0):
		return errors.New("max: must be more than min")
	case c.Missing < algorithm.MinScore || c.Missing > algorithm.MaxScore:
		return fmt.Errorf("missing: must be from %d to %d", algorithm.MinScore, algorithm.MaxScore)
	case c.Interval.Duration <= 0:
		return errors.New("interval: must be more than 0")
	case c.Timeout.Duration <= 0:
		return errors.New("timeout: must be more than 0")
	case c.StaleAfter.Duration < c.Interval.Duration:
		return errors.New("staleAfter: must be at least interval, or the values are always stale")
	case (c.TLS.CertFile == "") != (c.TLS.KeyFile == ""):
		return errors.New("tls.certFile: must be set together with tls.keyFile")
	case u.Scheme == "http" && c.TLS != (TLS{}):
		return errors.New("tls: is set, but url begins with http and not https")
	}
	return nil
}

// New makes the algorithm.
func New(c Config, logger logr.Logger) (algorithm.Algorithm, error) {
	return newLoad(c, logger, time.Now)
}

// queries are the measures, per node, from 0 for idle to 1 for full, as
// node_exporter of 0.16 and later has them. %l is the node label.
//
// The rate of a counter that began ten seconds ago is too low, since Prometheus divides
// by the whole two minutes. The rate of all modes is too low by the same factor, so the
// share is right from the second sample on.
var queries = map[string]string{
	"cpu":    `1 - sum by (%l) (rate(node_cpu_seconds_total{mode="idle"}[2m])) / sum by (%l) (rate(node_cpu_seconds_total[2m]))`,
	"memory": `1 - sum by (%l) (node_memory_MemAvailable_bytes) / sum by (%l) (node_memory_MemTotal_bytes)`,
}

// promQL returns the query.
func (c *Config) promQL() string {
	return cmp.Or(c.Query, strings.ReplaceAll(queries[cmp.Or(c.Measure, "cpu")], "%l", c.NodeLabel))
}

// worse reports whether a is worse than b.
func (c *Config) worse(a, b float64) bool {
	if c.Better == More {
		return a < b
	}
	return a > b
}

// score maps the range from Min to Max to the range of scores, and clamps values outside
// of it. The better end gets the highest score. value is not NaN.
func (c *Config) score(value float64) int64 {
	fraction := (min(max(value, c.Min), c.Max) - c.Min) / (c.Max - c.Min)
	if c.Better == Less {
		fraction = 1 - fraction
	}
	return algorithm.MinScore + int64(math.Round(fraction*float64(algorithm.MaxScore-algorithm.MinScore)))
}
