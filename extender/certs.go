package extender

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"sync/atomic"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
)

// certificates has the current certificates. It reads the files again for each handshake.
// Unlike notifications, that works on every file system, and for every way to change a file.
type certificates struct {
	files   TLS
	failed  func(error)                // called if the files have become invalid
	current atomic.Pointer[tls.Config] // from the files when they were last valid
}

// get returns the current certificates. It is a tls.Config's GetConfigForClient.
func (s *certificates) get(*tls.ClientHelloInfo) (*tls.Config, error) {
	if err := s.load(); err != nil {
		s.failed(err)
	}
	return s.current.Load(), nil
}

// load makes the certificates in the files current, if they are valid.
func (s *certificates) load() error {
	pair, err := readfile.KeyPair(s.files.CertFile, s.files.KeyFile)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", s.files.CertFile, s.files.KeyFile, err)
	}
	end := pair.Leaf.NotAfter
	if time.Now().After(end) {
		return fmt.Errorf("certificate %s: expired on %s", s.files.CertFile, end.UTC().Format(time.RFC3339))
	}
	config := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{pair},
		// Not HTTP/2: there a request of 31 MB waits for flow control.
		NextProtos: []string{"http/1.1"},
		// A resumed session would outlive a change of the authorities.
		SessionTicketsDisabled: true,
	}
	if s.files.ClientCAFile != "" {
		pem, err := readfile.All(s.files.ClientCAFile)
		if err != nil {
			return err
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("client authorities %s: it has no PEM certificate", s.files.ClientCAFile)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven // the server rejects requests without one
	}
	s.current.Store(config)
	return nil
}

// notAfter is when the current certificate expires, or zero without TLS.
func (s *certificates) notAfter() time.Time {
	if !s.files.Enabled() {
		return time.Time{}
	}
	current, _ := s.get(nil) // no error
	return current.Certificates[0].Leaf.NotAfter
}
