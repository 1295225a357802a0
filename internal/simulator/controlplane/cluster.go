// Package controlplane runs a real Kubernetes control plane inside the
// process: an etcd and a kube-apiserver, on loopback, with certificates of
// their own and RBAC on, so that a scheduler, kubelets and kubectl meet the same
// API that a cluster of machines serves.
//
// It also runs kube-controller-manager's controllers of workloads, volumes, budgets, quotas, taints
// and deletion, each under its own service account: controllers.go lists them.
//
// What it is not: it makes no volumes (package simulator does), and runs no service
// accounts for pods and no kubelet. A silent node stays as it is: heartbeats are not asked for.
// Making nodes Ready and pods Running is package kubelets' work; placing pods is the
// scheduler's. Nothing here is for production: one member, no backup, no audit.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// Config says how to run a cluster. Its zero value is a temporary cluster on a
// free port.
type Config struct {
	// DataDir keeps etcd's data, the certificates and the admin kubeconfig, and
	// a later Start on it finds them again. It is made when missing, and serves
	// one cluster at a time. Empty: a temporary directory that Stop removes.
	DataDir string
	// Port is where the API is served on 127.0.0.1. Zero: any free port.
	Port int
	// Paused starts the cluster as it is after Pause.
	Paused bool
	// Progress is called with each step of Start as it begins. It may be nil.
	Progress func(step string)
}

// Cluster is a running control plane.
type Cluster struct {
	dir   *dataDir
	ca    *authority
	host  string
	etcd  *etcdServer
	api   *apiServer
	admin *rest.Config

	manager  *manager
	closeLog func() error

	stop context.CancelFunc // asks for the end
	done chan struct{}
	err  error // why it ended; read it after done
}

// Start brings a cluster up and returns once it serves, with the RBAC roles, the priority classes and the
// namespaces of the system. ctx bounds the start only; call Stop to end the cluster. On an error nothing is left running.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	if cfg.Progress == nil {
		cfg.Progress = func(string) {}
	}
	c := &Cluster{done: make(chan struct{})}
	if err := c.start(ctx, cfg); err != nil {
		return nil, errors.Join(err, c.shutdown())
	}
	var stopping context.Context
	stopping, c.stop = context.WithCancel(context.Background())
	go c.supervise(stopping)
	return c, nil
}

func (c *Cluster) start(ctx context.Context, cfg Config) (err error) {
	began := time.Now()
	if c.dir, err = openDataDir(cfg.DataDir); err != nil {
		return err
	}
	if c.closeLog, err = openLog(c.dir.path(LogFile)); err != nil {
		return err
	}
	cfg.Progress("making certificates in " + c.dir.root)
	if c.ca, err = openAuthority(c.dir.path(pkiDir)); err != nil {
		return err
	}
	// Before anything else starts, so that a port that is taken is an error at once.
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(cfg.Port)))
	if err != nil {
		return fmt.Errorf("open the api's port: %w", err)
	}
	c.host = "https://" + listener.Addr().String()
	cfg.Progress("starting etcd on a unix socket")
	if c.etcd, err = startEtcd(c.dir); err != nil {
		listener.Close()
		return err
	}
	cfg.Progress("starting kube-apiserver on " + c.host)
	c.api, err = startAPIServer(c.dir, c.ca, c.etcd.endpoint, listener)
	if err := errors.Join(c.etcd.waitReady(c.dir), err); err != nil {
		return err
	}
	if c.admin, err = c.ClientConfig("kubernetes-admin", "system:masters"); err != nil {
		return err
	}
	if err := c.api.waitReady(ctx, c.admin); err != nil {
		return err
	}
	cfg.Progress("starting the controllers of workloads, volumes and deletion")
	if c.manager, err = startManager(c, cfg.Paused); err != nil {
		return err
	}
	if err := c.WriteKubeconfig(c.Kubeconfig(), "kubernetes-admin", "system:masters"); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("start control plane: %w", context.Cause(ctx))
	}
	cfg.Progress(fmt.Sprintf("control plane ready in %.1f s", time.Since(began).Seconds()))
	return nil
}

// Stop ends the cluster and waits until it has; a temporary one leaves no file.
// Stop the cluster's clients first, or they log refused connections. It may be
// called again, from anywhere, and returns the same as Err.
func (c *Cluster) Stop() error {
	c.stop()
	<-c.done
	return c.err
}

// Done is closed when the cluster has ended, whether asked to or not.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err is why the cluster ended, once Done is closed: nil after a clean Stop.
func (c *Cluster) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// supervise waits for the end, asked for or not, and leaves nothing running.
func (c *Cluster) supervise(stopping context.Context) {
	var cause error
	select {
	case <-stopping.Done():
	case <-c.api.done:
		cause = fmt.Errorf("kube-apiserver ended on its own: %w", c.api.err)
	case <-c.etcd.ended():
		cause = errors.New("etcd ended on its own")
	}
	c.err = errors.Join(cause, c.shutdown())
	close(c.done)
}

// shutdown undoes start from whatever point it reached, clients before servers.
func (c *Cluster) shutdown() error {
	var errs []error
	c.manager.stop()
	if c.api != nil {
		errs = append(errs, c.api.stop())
	}
	if c.etcd != nil {
		c.etcd.stop()
	}
	if c.closeLog != nil {
		errs = append(errs, c.closeLog())
	}
	if c.dir != nil {
		errs = append(errs, c.dir.close())
	}
	return errors.Join(errs...)
}
