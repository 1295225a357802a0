package controlplane

import (
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/pkiutil"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
)

const leafLife = 365 * 24 * time.Hour

// Names in the directory of an authority. Certificates end in .crt, keys in .key.
const (
	caName      = "ca"
	servingName = "apiserver"
	accountsKey = "service-accounts.key"
)

// authority is the cluster's certificate authority. It signs the API's serving
// certificate and every client's; the key usages keep the two kinds apart. Only
// it and the service-account key persist: leaves are signed anew at each start,
// so a kept cluster never meets an expired one.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

func openAuthority(dir string) (*authority, error) {
	a := &authority{dir: dir}
	if err := a.loadOrMake(); err != nil {
		return nil, fmt.Errorf("certificate authority: %w: remove the data directory to start afresh", err)
	}
	if _, _, err := keyutil.LoadOrGenerateKeyFile(a.file(accountsKey)); err != nil {
		return nil, fmt.Errorf("key of service accounts: %w", err)
	}
	cert, key, err := a.sign(certutil.Config{
		CommonName: "kube-apiserver",
		Usages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		AltNames: certutil.AltNames{
			DNSNames: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
			IPs:      []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		},
	})
	if err != nil {
		return nil, err
	}
	return a, a.write(servingName, cert, key)
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) loadOrMake() (err error) {
	if pkiutil.CertOrKeyExist(a.dir, caName) {
		a.cert, a.key, err = pkiutil.TryLoadCertAndKeyFromDisk(a.dir, caName)
		return err
	}
	a.cert, a.key, err = pkiutil.NewCertificateAuthority(&pkiutil.CertConfig{
		Config: certutil.Config{CommonName: "regex-scheduling"}, EncryptionAlgorithm: kubeadm.EncryptionAlgorithmECDSAP256,
	})
	if err != nil {
		return err
	}
	return a.write(caName, a.cert, a.key)
}

func (a *authority) write(name string, cert *x509.Certificate, key crypto.Signer) error {
	return errors.Join(pkiutil.WriteKey(a.dir, name, key), atomicfile.WriteBytes(a.file(name+".crt"), pkiutil.EncodeCertPEM(cert)))
}

// sign makes a certificate and its key. To RBAC the common name of a client is the
// user and the organizations are its groups.
func (a *authority) sign(leaf certutil.Config) (*x509.Certificate, crypto.Signer, error) {
	cert, key, err := pkiutil.NewCertAndKey(a.cert, a.key, &pkiutil.CertConfig{
		Config: leaf, NotAfter: time.Now().Add(leafLife), EncryptionAlgorithm: kubeadm.EncryptionAlgorithmECDSAP256,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("certificate of %s: %w", leaf.CommonName, err)
	}
	return cert, key, nil
}
