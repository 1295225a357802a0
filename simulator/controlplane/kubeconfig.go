package controlplane

import (
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
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
	cert, key, err := c.ca.issueClient(user, groups)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            c.host,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.pem, CertData: cert, KeyData: key},
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
	const name = "regex-scheduling"
	data, err := clientcmd.Write(api.Config{
		Clusters: map[string]*api.Cluster{name: {
			Server:                   cfg.Host,
			CertificateAuthorityData: cfg.CAData,
		}},
		AuthInfos: map[string]*api.AuthInfo{user: {
			ClientCertificateData: cfg.CertData,
			ClientKeyData:         cfg.KeyData,
		}},
		Contexts:       map[string]*api.Context{name: {Cluster: name, AuthInfo: user}},
		CurrentContext: name,
	})
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	// A file that was there would keep its mode, so it goes first.
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("replace kubeconfig: %w", err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
