package extender_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
)

// secured is a running extender with TLS.
type secured struct {
	running
	log               testkit.Log
	authority         *pki.Authority
	certFile, keyFile string
}

func startTLS(t *testing.T, clientCA string) *secured {
	t.Helper()
	dir := t.TempDir()
	s := &secured{authority: pki.New(t), certFile: filepath.Join(dir, "tls.crt"), keyFile: filepath.Join(dir, "tls.key")}
	s.authority.Issue(t, s.certFile, s.keyFile, time.Hour)
	text := fmt.Sprintf("tls: {certFile: %s, keyFile: %s}", s.certFile, s.keyFile)
	if clientCA != "" {
		text = strings.TrimSuffix(text, "}") + fmt.Sprintf(", clientCAFile: %s}", clientCA)
	}
	s.running = startLogging(t, configure(t, text), extender.NewLogger(&s.log, extender.LogText, 0))
	return s
}

// do sends a request to path over a connection of its own, as a client that
// trusts an authority and has certificates.
func (s *secured) do(path string, trusts *pki.Authority, certificates ...tls.Certificate) (*http.Response, string, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: trusts.Pool(), Certificates: certificates},
	}}
	method, body := http.MethodPost, corpus.Names("kubecon-.*", 10)
	if !strings.HasSuffix(path, "filter") {
		method, body = http.MethodGet, nil
	}
	request, err := http.NewRequest(method, "https://"+s.Address+path, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response, string(answer), err
}

func TestExtenderTakesClientsOfItsAuthority(t *testing.T) {
	clients, others := pki.New(t), pki.New(t)
	s := startTLS(t, clients.File)
	response, answer, err := s.do("/filter", s.authority, clients.Pair(t, time.Hour))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("good: %v %s", err, answer)
	}
	for _, path := range []string{"/filter", "/metrics", "/", "/version"} {
		response, answer, err := s.do(path, s.authority)
		if err != nil {
			t.Errorf("%s without a certificate: %v", path, err)
			continue
		}
		refused(t, path+" without a certificate", response.StatusCode, answer, response.Header.Get("Content-Type"), http.StatusUnauthorized, "needs a client certificate")
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		response, answer, err := s.do(path, s.authority)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s without a certificate: %v %s", path, err, answer)
		}
	}
	for what, pair := range map[string]tls.Certificate{"another authority's": others.Pair(t, time.Hour), "an expired": clients.Pair(t, -time.Minute)} {
		if _, _, err := s.do("/healthz", s.authority, pair); err == nil {
			t.Errorf("%s certificate is taken", what)
		}
	}
}

func TestExtenderReloadsItsCertificate(t *testing.T) {
	s := startTLS(t, "")
	renewed := s.authority.Issue(t, s.certFile, s.keyFile, 2*time.Hour)
	hasIt := func() bool {
		response, _, err := s.do("/healthz", s.authority)
		return err == nil && response.TLS.PeerCertificates[0].Equal(renewed)
	}
	testkit.EventuallyHolds(t, "the new certificate", hasIt)
	testkit.Must(t, os.WriteFile(s.certFile, nil, 0o600))
	if !hasIt() {
		t.Error("with a bad file it does not keep the last good one")
	}
	testkit.EventuallyHas(t, "a line", s.log.String, "The new certificates are invalid, the old ones stay in use")
}

func TestExtenderReloadsTheAuthorityOfClients(t *testing.T) {
	clients, newClients := pki.New(t), pki.New(t)
	s := startTLS(t, clients.File)
	testkit.Must(t, os.Rename(newClients.File, clients.File))
	testkit.EventuallyHolds(t, "a client of the new authority to be let in", func() bool {
		response, _, err := s.do("/filter", s.authority, newClients.Pair(t, time.Hour))
		return err == nil && response.StatusCode == http.StatusOK
	})
	if _, _, err := s.do("/filter", s.authority, clients.Pair(t, time.Hour)); err == nil {
		t.Error("a certificate of the old authority is taken")
	}
}

// The clients speak no TLS.
func TestExtenderLogsSomeFailedHandshakes(t *testing.T) {
	s := startTLS(t, "")
	began := time.Now()
	for i := range 50 {
		c := slowly(t, s.Address, "GET /healthz HTTP/1.1\r\n\r\n")
		_, _ = io.Copy(io.Discard, c)
		if i == 0 {
			testkit.EventuallyHas(t, "a line about the handshake", s.log.String, "TLS handshake error from "+c.LocalAddr().String())
		}
	}
	testkit.Must(t, s.Stop())
	lines, most := strings.Count(s.log.String(), "TLS handshake error"), 11+int(time.Since(began)/(10*time.Second))
	if lines > most {
		t.Errorf("50 handshakes have %d lines, want at most %d", lines, most)
	}
}
