// Package certs serves TLS with certificates that are renewed while the
// program runs. New files that are no good are refused, and the old ones stay.
//
// It neither makes certificates nor watches files.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
)

// Source hands out the current certificates. It is safe for concurrent use.
type Source struct {
	current atomic.Pointer[tls.Config]
	leaf    atomic.Pointer[x509.Certificate]
}

// Load reads PEM files and, if they are good, makes them current. Connections
// that are made before keep what they have.
func (s *Source) Load(files config.TLS) error {
	pair, err := tls.LoadX509KeyPair(files.CertFile, files.KeyFile)
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
		if config.ClientCAs, err = pool(files.ClientCAFile); err != nil {
			return fmt.Errorf("client authorities %s: %w", files.ClientCAFile, err)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	s.current.Store(config)
	s.leaf.Store(pair.Leaf)
	return nil
}

func pool(path string) (*x509.CertPool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New("there is no PEM certificate in it")
	}
	return pool, nil
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
