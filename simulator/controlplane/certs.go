package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const leafLife = 365 * 24 * time.Hour

// authority is the cluster's certificate authority. It signs the API's serving
// certificate and every client's; the key usages keep the two kinds apart. Only
// it and the service-account key persist: leaves are signed anew at each start,
// so a kept cluster never meets an expired one.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  []byte

	certFile           string
	serviceAccountFile string
	servingCertFile    string
	servingKeyFile     string
}

func openAuthority(dir *dataDir) (*authority, error) {
	a := &authority{
		certFile:           dir.path(pkiDir, "ca.crt"),
		serviceAccountFile: dir.path(pkiDir, "service-accounts.key"),
		servingCertFile:    dir.path(pkiDir, "apiserver.crt"),
		servingKeyFile:     dir.path(pkiDir, "apiserver.key"),
	}
	var err error
	if a.key, err = loadOrMakeKey(dir.path(pkiDir, "ca.key")); err != nil {
		return nil, err
	}
	if _, err := loadOrMakeKey(a.serviceAccountFile); err != nil {
		return nil, err
	}
	if err := a.loadOrMakeCert(); err != nil {
		return nil, err
	}
	return a, a.writeServing()
}

func (a *authority) loadOrMakeCert() error {
	certs, err := certutil.CertsFromFile(a.certFile)
	switch {
	case err == nil:
		a.cert = certs[0]
	case errors.Is(err, fs.ErrNotExist):
		a.cert, err = certutil.NewSelfSignedCACert(certutil.Config{CommonName: "regex-scheduling"}, a.key)
		if err != nil {
			return fmt.Errorf("make certificate authority: %w", err)
		}
		if err := os.WriteFile(a.certFile, encodeCert(a.cert.Raw), 0o600); err != nil {
			return fmt.Errorf("keep certificate authority: %w", err)
		}
	default:
		return fmt.Errorf("read certificate authority: %w", err)
	}
	a.pem = encodeCert(a.cert.Raw)
	return nil
}

// writeServing signs what the API serves with. kube-apiserver takes it as files.
func (a *authority) writeServing() error {
	cert, key, err := a.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(a.servingCertFile, cert, 0o600); err != nil {
		return fmt.Errorf("write serving certificate: %w", err)
	}
	if err := os.WriteFile(a.servingKeyFile, key, 0o600); err != nil {
		return fmt.Errorf("write serving key: %w", err)
	}
	return nil
}

// issueClient signs a client's certificate. To RBAC the common name is the user
// and the organizations are its groups.
func (a *authority) issueClient(user string, groups []string) (cert, key []byte, err error) {
	return a.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) sign(leaf *x509.Certificate) (cert, key []byte, err error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make key of %s: %w", leaf.Subject.CommonName, err)
	}
	if leaf.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, fmt.Errorf("make serial number: %w", err)
	}
	leaf.NotBefore = a.cert.NotBefore // tolerates a clock that was set back
	leaf.NotAfter = time.Now().Add(leafLife)
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, signer.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign certificate of %s: %w", leaf.Subject.CommonName, err)
	}
	if key, err = keyutil.MarshalPrivateKeyToPEM(signer); err != nil {
		return nil, nil, fmt.Errorf("encode key of %s: %w", leaf.Subject.CommonName, err)
	}
	return encodeCert(der), key, nil
}
