package load

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
)

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
		config := Default()
		config.URL, config.TLS = server.URL, settings
		_, err := build(t, config, time.Now).ask(t)
		if (err == nil) != (step.want == "") || err != nil && !strings.Contains(err.Error(), step.want) {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}
