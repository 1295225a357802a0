// Package certs serves TLS with certificates that are renewed while the
// program runs. New files that are no good are refused, and the old ones stay.
//
// It makes no certificates.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/config"
)

// Source hands out the current certificates. It is safe for concurrent use, but for
// Load and Watch.
type Source struct {
	current atomic.Pointer[tls.Config]
	leaf    atomic.Pointer[x509.Certificate]
	tried   digest // of the files that were loaded last, good or not
}

// Load reads PEM files and, if they are good, makes them current. Connections
// that are made before keep what they have.
func (s *Source) Load(files config.TLS) error {
	contents, err := read(files)
	s.tried = digestOf(contents, err)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(contents.cert, contents.key)
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
		if !config.ClientCAs.AppendCertsFromPEM(contents.clientCA) {
			return fmt.Errorf("client authorities %s: there is no PEM certificate in it", files.ClientCAFile)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	s.current.Store(config)
	s.leaf.Store(pair.Leaf)
	return nil
}

// Config is for a server. It asks the Source at every handshake. A client
// certificate is verified if there is one; whether there has to be is up to
// the server, request by request.
func (s *Source) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			if config := s.current.Load(); config != nil {
				return config, nil
			}
			return nil, errors.New("no certificate is loaded")
		},
	}
}

// NotAfter is when the current certificate expires, or zero if there is none.
func (s *Source) NotAfter() time.Time {
	if leaf := s.leaf.Load(); leaf != nil {
		return leaf.NotAfter
	}
	return time.Time{}
}
