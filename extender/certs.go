package extender

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"
)

// certificates has the current certificates. It reads the files again for each handshake:
// unlike notifications that works on every file system and for every way to change a file.
type certificates struct {
	files    TLS
	reloaded func(expiry time.Time, err error) // called after the files have changed

	mu      sync.Mutex
	tried   contents // of the last load, valid or not
	current *tls.Config
}

// get returns the current certificates, after load. It is a tls.Config's GetConfigForClient.
func (s *certificates) get(*tls.ClientHelloInfo) (*tls.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed, err := s.load()
	if changed {
		s.reloaded(s.current.Certificates[0].Leaf.NotAfter, err)
	}
	return s.current, nil
}

// load reads the files. If they have changed and are valid, they become current.
func (s *certificates) load() (changed bool, err error) {
	pem, err := readPEM(s.files)
	changed = pem != s.tried
	s.tried = pem
	if changed && err == nil {
		err = s.use(pem)
	}
	return changed, err
}

// use makes certificates current, if they are valid. It verifies a client certificate if
// there is one; the server rejects requests without one.
func (s *certificates) use(pem contents) error {
	pair, err := tls.X509KeyPair([]byte(pem[0]), []byte(pem[1]))
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
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM([]byte(pem[2])) {
			return fmt.Errorf("client authorities %s: it has no PEM certificate", s.files.ClientCAFile)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	s.current = config
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

// contents has the text of the certificate, its key, and the authorities of clients. All are
// empty if one file cannot be read.
type contents [3]string

func readPEM(files TLS) (all contents, err error) {
	for i, path := range []string{files.CertFile, files.KeyFile, files.ClientCAFile} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() { // a pipe or a device may never end
			err = fmt.Errorf("%s: is not a regular file", path)
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(path)
		}
		if err != nil {
			return contents{}, err
		}
		all[i] = string(text)
	}
	return all, nil
}
