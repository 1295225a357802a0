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

// certificates hands out the current ones. New files that are no good are refused, and
// the old ones stay. It is safe for concurrent use, but for load and watch.
type certificates struct {
	current atomic.Pointer[tls.Config]
	tried   contents // what was loaded last, good or not
}

// load reads PEM files and, if they are good, makes them current. Connections
// that are made before keep what they have.
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
			return fmt.Errorf("client authorities %s: there is no PEM certificate in it", files.ClientCAFile)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	s.current.Store(config)
	return nil
}

// config is for a server, after load. It asks for the current ones at every handshake. A
// client certificate is verified if there is one; whether there has to be is up to
// the server, request by request.
func (s *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return s.current.Load(), nil
		},
	}
}

// notAfter is when the current certificate expires, or zero if there is none.
func (s *certificates) notAfter() time.Time {
	if config := s.current.Load(); config != nil {
		return config.Certificates[0].Leaf.NotAfter
	}
	return time.Time{}
}

// lookEvery is how often the files are looked at. It works for every file system
// and however a file is changed, and reading a few kilobytes costs nothing.
const lookEvery = time.Second

// watch loads the files that were loaded before when they have changed, until ctx is
// done, and tells loaded what came of it. They are left to settle for as long as it
// takes to look again: certificate and key are rarely written in the same instant.
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

// contents are those of the certificate, its key, and the clients' authorities: all
// empty where one could not be read.
type contents [3]string

func readPEM(files config.TLS) (all contents, err error) {
	for i, path := range []string{files.CertFile, files.KeyFile, files.ClientCAFile} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() { // a pipe or a device, which may never end
			err = fmt.Errorf("%s: is no regular file", path)
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
