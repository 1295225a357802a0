// Package pki makes certificates for tests: an authority and what it signs, as
// PEM files. They are no good for anything else, since the keys lie around.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	certutil "k8s.io/client-go/util/cert"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// An Authority signs certificates for 127.0.0.1 and custom-scheduler. Its own is in File.
type Authority struct {
	File string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New makes an authority with a file in a temporary folder.
func New(t testing.TB) *Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	cert, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: "authority.test"}, key)
	testkit.Must(t, err)
	a := &Authority{File: filepath.Join(t.TempDir(), "ca.pem"), cert: cert, key: key}
	write(t, a.File, "CERTIFICATE", cert.Raw)
	return a
}

// Issue writes a certificate for servers and clients, and its key, that expires
// after a time, which may be over already. It replaces files as Kubernetes does:
// a rename for each.
func (a *Authority) Issue(t testing.TB, certFile, keyFile string, expires time.Duration) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(t, err)
	end := time.Now().Add(expires)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(end.UnixNano()), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:  []string{"custom-scheduler"},
		NotBefore: end.Add(-2 * time.Hour), NotAfter: end,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	testkit.Must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(t, err)
	write(t, keyFile, "PRIVATE KEY", keyDER)
	write(t, certFile, "CERTIFICATE", der)
	cert, err := x509.ParseCertificate(der)
	testkit.Must(t, err)
	return cert
}

// Pair issues a certificate and loads it.
func (a *Authority) Pair(t testing.TB, expires time.Duration) tls.Certificate {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	a.Issue(t, certFile, keyFile, expires)
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	testkit.Must(t, err)
	return pair
}

// Pool has the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func write(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	testkit.Must(t, os.WriteFile(path+".new", pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	testkit.Must(t, os.Rename(path+".new", path))
}
