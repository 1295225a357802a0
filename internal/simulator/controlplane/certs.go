package controlplane

import (
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/kubeconfig"
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
// it and the service-account key persist: leaves are signed again at each start,
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

// Kubeconfig is the path of the admin kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.dir.path(KubeconfigFile) }

// DataDir is where the cluster lives, also when it is temporary.
func (c *Cluster) DataDir() string { return c.dir.root }

// Host is the API's address: https://127.0.0.1:port.
func (c *Cluster) Host() string { return c.host }

// AdminConfig is a client configuration that may do everything.
func (c *Cluster) AdminConfig() *rest.Config { return rest.CopyConfig(c.admin) }

// ClientConfig makes a client configuration for user in groups, with a
// certificate of its own: RBAC decides what it may do.
func (c *Cluster) ClientConfig(user string, groups ...string) (*rest.Config, error) {
	cert, key, err := c.ca.sign(certutil.Config{
		CommonName: user, Organization: groups, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, err
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, fmt.Errorf("key of %s: %w", user, err)
	}
	return &rest.Config{
		Host: c.host,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: pkiutil.EncodeCertPEM(c.ca.cert), CertData: pkiutil.EncodeCertPEM(cert), KeyData: keyPEM,
		},
		// The API is ours alone: client-go's limit of 5 requests a second
		// would only slow it down.
		QPS: -1,
		// What is not of Kubernetes itself has JSON alone.
		ContentConfig: rest.ContentConfig{
			ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
		},
		// API warnings are for people at kubectl, not for our logs.
		WarningHandler: rest.NoWarnings{},
	}, nil
}

// WriteKubeconfig writes ClientConfig of user and groups to file, mode 0600, for
// a component that takes a kubeconfig, or a person at kubectl.
func (c *Cluster) WriteKubeconfig(file, user string, groups ...string) error {
	cfg, err := c.ClientConfig(user, groups...)
	if err != nil {
		return err
	}
	const name = "regex-scheduling" // of the cluster and of the context
	config := kubeconfig.CreateWithCerts(cfg.Host, name, user, cfg.CAData, cfg.KeyData, cfg.CertData)
	config.Contexts = map[string]*api.Context{name: config.Contexts[config.CurrentContext]}
	config.CurrentContext = name
	data, err := clientcmd.Write(*config)
	if err == nil {
		err = atomicfile.WriteBytes(file, data)
	}
	if err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
