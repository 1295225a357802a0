package load

import (
	"crypto/tls"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
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
	testkit.Must(t, Default().Validate())
}

func TestMeasuresAreQueriesByNode(t *testing.T) {
	for measure, want := range map[string]string{
		"": "1 - sum by (node) (rate(node_cpu_seconds_total{mode=\"idle\"}[2m])) / sum by (node) (rate(node_cpu_seconds_total[2m]))", "cpu": "1 - sum by (node) (rate(", "memory": "sum by (node) (node_memory_MemTotal_bytes)",
	} {
		c := Default()
		c.Measure, c.NodeLabel = measure, "node"
		testkit.Has(t, c.promQL(), want)
	}
	c := Default()
	c.Query = "up"
	testkit.Equal(t, c.promQL(), "up", "the query")
}

// TestTLSToPrometheus asks a server that wants a client certificate.
func TestTLSToPrometheus(t *testing.T) {
	ours, others := pki.New(t), pki.New(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, vector(values))
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ours.Pair(t, time.Hour)}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.Pool()}
	server.StartTLS()
	defer server.Close()
	dir := t.TempDir()
	good := TLS{CAFile: ours.File, CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
	ours.Issue(t, good.CertFile, good.KeyFile, time.Hour)

	settings := good
	for _, step := range []struct {
		name   string
		change func()
		want   string // in the error; empty is none
	}{
		{"good", func() {}, ""},
		{"another authority", func() { settings.CAFile = others.File }, "unknown authority"},
		{"another authority, not verified", func() { settings.InsecureSkipVerify = true }, ""},
		{"no certificate", func() { settings = TLS{CAFile: ours.File} }, "certificate required"},
		{"another name", func() { settings = good; settings.ServerName = "other.example" }, "other.example"},
		{"expired", func() { settings = good; ours.Issue(t, good.CertFile, good.KeyFile, -time.Minute) }, "expired"},
	} {
		step.change()
		config := polling(server.URL)
		config.TLS = settings
		_, err := build(t, config, time.Now).ask(t)
		if (err == nil) != (step.want == "") || err != nil && !strings.Contains(err.Error(), step.want) {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}
