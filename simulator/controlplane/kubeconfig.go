package controlplane

import (
	"crypto/x509"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/kubeconfig"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/pkiutil"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
)

// Kubeconfig is the path of the admin kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.dir.path(KubeconfigFile) }

// DataDir is where the cluster lives, also when it is temporary.
func (c *Cluster) DataDir() string { return c.dir.root }

// Host is the API's address: https://127.0.0.1:port.
func (c *Cluster) Host() string { return c.host }

// AdminConfig is a client configuration that may do everything.
func (c *Cluster) AdminConfig() *rest.Config { return rest.CopyConfig(c.admin) }

// ClientConfig makes a client configuration for user in groups, with a
// certificate of its own: RBAC decides what it may do. The user
// "system:kube-scheduler" has the roles of a scheduler, the group
// "system:masters" may do everything.
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
	return writeKubeconfig(file, cfg, user)
}

func writeKubeconfig(file string, cfg *rest.Config, user string) error {
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
