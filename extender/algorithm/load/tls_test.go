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

	query := func(settings TLS) error {
		config := defaults()
		config.URL, config.TLS = server.URL, settings
		_, err := build(t, config, time.Now).ask(t)
		return err
	}
	if err := query(good); err != nil {
		t.Errorf("good: %v", err)
	}
	wrong := good
	wrong.CAFile = others.File
	err := query(wrong)
	if err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("another authority: %v", err)
	}
	wrong.InsecureSkipVerify = true
	if err := query(wrong); err != nil {
		t.Errorf("another authority, not verified: %v", err)
	}
	err = query(TLS{CAFile: ours.File})
	if err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("no certificate: %v", err)
	}
	wrong = good
	wrong.ServerName = "other.example"
	err = query(wrong)
	if err == nil || !strings.Contains(err.Error(), "other.example") {
		t.Errorf("another name: %v", err)
	}
	ours.Issue(t, good.CertFile, good.KeyFile, -time.Minute)
	err = query(good)
	if err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("expired: %v", err)
	}
}

func TestATLSConfigWithoutItsFilesIsRefused(t *testing.T) {
	config := defaults()
	config.URL, config.TLS.CAFile = "https://127.0.0.1", filepath.Join(t.TempDir(), "missing")
	_, err := config.newClient()
	if err == nil || !strings.Contains(err.Error(), "tls.caFile") {
		t.Errorf("got %v", err)
	}
}
