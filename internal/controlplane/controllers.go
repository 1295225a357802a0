package controlplane

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// controllerJob is how many workers each controller has.
const controllerJob = 2

// controllers are those of kube-controller-manager that run here, and what they share.
type controllers struct {
	cluster    *Cluster
	shared     informers.SharedInformerFactory
	metaShared metadatainformer.SharedInformerFactory
	started    chan struct{} // closed once the informers are
	loops      []func(context.Context)
}

// controller is one of them.
type controller struct {
	// account is its service account in kube-system, which has the rights that
	// the API server binds to each controller's. It is the identity that it has
	// in any cluster whose kube-controller-manager uses those.
	account string
	// make adds its loops. It may use c until then, and its client for ever.
	make func(ctx context.Context, c *controllers, client kubernetes.Interface, config *rest.Config) error
}

// startControllers runs what is in cleaning, workloads and volumes. Their
// informers are shared, under the identity of kube-controller-manager itself.
func startControllers(cluster *Cluster) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	c := &controllers{cluster: cluster, started: make(chan struct{})}
	if err := c.make(ctx); err != nil {
		cancel()
		return func() {}, err
	}
	var running sync.WaitGroup
	for _, loop := range c.loops {
		running.Go(func() { loop(ctx) })
	}
	c.shared.Start(ctx.Done())
	c.metaShared.Start(ctx.Done())
	close(c.started)
	return func() {
		cancel()
		c.shared.Shutdown()
		c.metaShared.Shutdown()
		running.Wait()
	}, nil
}

func (c *controllers) make(ctx context.Context) error {
	if err := c.share(); err != nil {
		return fmt.Errorf("informers of the controllers: %w", err)
	}
	for _, group := range [][]controller{cleaning, workloads, volumes} {
		for _, one := range group {
			config, err := c.identity(one.account)
			if err != nil {
				return err
			}
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return fmt.Errorf("client of %s: %w", one.account, err)
			}
			if err := one.make(ctx, c, client, config); err != nil {
				return fmt.Errorf("%s: %w", one.account, err)
			}
		}
	}
	return nil
}

// share makes the informers.
func (c *controllers) share() error {
	config, err := c.cluster.ClientConfig("system:kube-controller-manager")
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	c.shared = informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(withoutManagedFields))
	c.metaShared = metadatainformer.NewSharedInformerFactoryWithOptions(meta, 0, metadatainformer.WithTransform(withoutManagedFields))
	return nil
}

// withoutManagedFields drops a third of each object, that no controller reads.
func withoutManagedFields(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return object, nil
}

var _ cache.TransformFunc = withoutManagedFields

// identity is that of a service account of kube-system. It has a certificate in
// place of a token, so that there need be no such object.
func (c *controllers) identity(account string) (*rest.Config, error) {
	return c.cluster.ClientConfig(serviceaccount.MakeUsername(metav1.NamespaceSystem, account),
		serviceaccount.MakeGroupNames(metav1.NamespaceSystem)...)
}

// run adds a loop to those that run until the end.
func (c *controllers) run(loop func(context.Context)) { c.loops = append(c.loops, loop) }

// work adds a loop of workers.
func (c *controllers) work(loop func(ctx context.Context, workers int)) {
	c.run(func(ctx context.Context) { loop(ctx, controllerJob) })
}
