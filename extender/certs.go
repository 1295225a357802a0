package extender

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/config"
)

// certificates has the current certificates. If new files are invalid, the old ones stay.
// Its methods are safe for concurrent use, except load and watch.
type certificates struct {
	current atomic.Pointer[tls.Config]
	tried   contents // of the last load, valid or not
}

// load reads PEM files and, if they are valid, makes them current for new connections.
func (s *certificates) load(files config.TLS) (err error) {
	if s.tried, err = readPEM(files); err != nil {
		return err
	}
	pair, err := tls.X509KeyPair([]byte(s.tried[0]), []byte(s.tried[1]))
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", files.CertFile, files.KeyFile, err)
	}
	if end := pair.Leaf.NotAfter; time.Now().After(end) {
		return fmt.Errorf("certificate %s: expired on %s", files.CertFile, end.UTC().Format(time.RFC3339))
	}
	config := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{pair},
		// Not HTTP/2: there a request of 31 MB waits for flow control.
		NextProtos: []string{"http/1.1"},
		// A resumed session would outlive a change of the authorities.
		SessionTicketsDisabled: true,
	}
	if files.ClientCAFile != "" {
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM([]byte(s.tried[2])) {
			return fmt.Errorf("client authorities %s: it has no PEM certificate", files.ClientCAFile)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	s.current.Store(config)
	return nil
}

// config is for a server, after load. It uses the current certificates for each handshake.
// It verifies a client certificate if there is one; the server rejects requests without one.
func (s *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return s.current.Load(), nil
		},
	}
}

// notAfter is when the current certificate expires, or zero without one.
func (s *certificates) notAfter() time.Time {
	if config := s.current.Load(); config != nil {
		return config.Certificates[0].Leaf.NotAfter
	}
	return time.Time{}
}

// lookEvery is how often watch reads the files. Unlike notifications it works on every
// file system and for every way to change a file.
const lookEvery = time.Second

// watch loads the files again when they have changed, until ctx is done, and calls loaded
// with the result. It waits until two reads give the same: certificate and key are rarely
// written in the same instant.
func (s *certificates) watch(ctx context.Context, files config.TLS, loaded func(error)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for last := s.tried; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, _ := readPEM(files) // an error reads as nothing, and load returns it
		if now == last && now != s.tried {
			loaded(s.load(files))
		}
		last = now
	}
}

// contents are those of the certificate, its key, and the authorities of clients. All are
// empty if one file cannot be read.
type contents [3]string

func readPEM(files config.TLS) (all contents, err error) {
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
