package load

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestConfigIsValidated(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`url: "ftp://a": must be http(s)`:                     func(c *Config) { c.URL = "ftp://a" },
		`url: "http://…": must be`:                            func(c *Config) { c.URL = "http://user:sec/ret@a" },
		`url: "http://xxxxx@a": must be`:                      func(c *Config) { c.URL = "http://user:secret@a" },
		`url: "http://a?xxxxx": must be`:                      func(c *Config) { c.URL = "http://a?b=c" },
		"query: cannot be set together with measure":          func(c *Config) { c.Query, c.Measure = "up", "cpu" },
		`measure: "disk": must be cpu or memory`:              func(c *Config) { c.Measure = "disk" },
		`nodeLabel: "a-b": must be the name`:                  func(c *Config) { c.NodeLabel = "a-b" },
		`better: "best": must be less or more`:                func(c *Config) { c.Better = "best" },
		"max: must be more than min":                          func(c *Config) { c.Max = c.Min },
		"max: must be more than min\x00":                      func(c *Config) { c.Min, c.Max = -math.MaxFloat64, math.MaxFloat64 },
		"missing: must be from 0 to 10":                       func(c *Config) { c.Missing = 11 },
		"interval: must be more than 0":                       func(c *Config) { c.Interval.Duration = 0 },
		"timeout: must be more than 0":                        func(c *Config) { c.Timeout.Duration = -1 },
		"staleAfter: must be at least interval":               func(c *Config) { c.StaleAfter.Duration = time.Second },
		"tls.certFile: must be set together":                  func(c *Config) { c.URL, c.TLS.CertFile = "https://a", "a" },
		"tls: is set, but url begins with http and not https": func(c *Config) { c.TLS.InsecureSkipVerify = true },
	} {
		c := Default()
		change(&c)
		err := c.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), strings.TrimRight(want, "\x00")) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := Default().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

func TestMeasuresAreQueriesByNode(t *testing.T) {
	for measure, want := range map[string]string{
		"": "1 - sum by (node) (rate(node_cpu_seconds_total{mode=\"idle\"}[2m])) / sum by (node) (rate(node_cpu_seconds_total[2m]))", "cpu": "1 - sum by (node) (rate(", "memory": "sum by (node) (node_memory_MemTotal_bytes)",
	} {
		c := Default()
		c.Measure, c.NodeLabel = measure, "node"
		got := c.promQL()
		if !strings.Contains(got, want) {
			t.Errorf("measure %q asks %s", measure, got)
		}
	}
	c := Default()
	c.Query = "up"
	if c.promQL() != "up" {
		t.Errorf("query up asks %s", c.promQL())
	}
}
