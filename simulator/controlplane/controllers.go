package controlplane

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/informers"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"

	"wasmkwokwizardry.io/regex-scheduling/simulator/reconcile"
)

// workers is how many objects each controller looks at at once.
const workers = 2

// controller is one of kube-controller-manager's.
type controller struct {
	// account is its service account in kube-system, to which the API server
	// binds the rights that it needs.
	account string
	// make adds its loops to those that run.
	make func(ctx context.Context, r *controllers, as identity) error
}

// controllers are controllers that run, and what they share.
type controllers struct {
	shared     informers.SharedInformerFactory
	metaShared metadatainformer.SharedInformerFactory
	started    chan struct{} // closed once these are
	loops      []func(context.Context)

	cancel  context.CancelFunc
	running sync.WaitGroup
}

func (r *controllers) core() coreinformers.Interface   { return r.shared.Core().V1() }
func (r *controllers) apps() appsinformers.Interface   { return r.shared.Apps().V1() }
func (r *controllers) batch() batchinformers.Interface { return r.shared.Batch().V1() }

// startControllers runs controllers until stop. Their informers are shared, and
// have the identity of kube-controller-manager itself.
func startControllers(which []controller, as identities) (*controllers, error) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &controllers{started: make(chan struct{}), cancel: cancel}
	if err := r.make(ctx, which, as); err != nil {
		cancel()
		return nil, err
	}
	for _, loop := range r.loops {
		r.running.Go(func() { loop(ctx) })
	}
	r.shared.Start(ctx.Done())
	r.metaShared.Start(ctx.Done())
	close(r.started)
	return r, nil
}

func (r *controllers) make(ctx context.Context, which []controller, as identities) error {
	manager, err := as.get("system:kube-controller-manager")
	if err != nil {
		return err
	}
	r.shared = informers.NewSharedInformerFactoryWithOptions(manager, 0, informers.WithTransform(reconcile.StripManagedFields))
	r.metaShared = metadatainformer.NewSharedInformerFactoryWithOptions(manager.metadata, 0, metadatainformer.WithTransform(reconcile.StripManagedFields))
	for _, one := range which {
		// A certificate stands in for the token of the account, so that there need be no such object.
		client, err := as.get(serviceaccount.MakeUsername(metav1.NamespaceSystem, one.account), serviceaccount.MakeGroupNames(metav1.NamespaceSystem)...)
		if err == nil {
			err = one.make(ctx, r, client)
		}
		if err != nil {
			return fmt.Errorf("controller %s: %w", one.account, err)
		}
	}
	return nil
}

// run adds a controller, unless making it failed. Which of them take a number of workers
// depends on the minor of Kubernetes.
func (r *controllers) run(c any, err error) error {
	if err != nil {
		return err
	}
	switch c := c.(type) {
	case interface{ Run(context.Context) }:
		r.loops = append(r.loops, c.Run)
	case interface{ Run(context.Context, int) }:
		r.loops = append(r.loops, func(ctx context.Context) { c.Run(ctx, workers) })
	default:
		return fmt.Errorf("%T has no Run that is known", c)
	}
	return nil
}

// stop waits until the last worker has ended.
func (r *controllers) stop() {
	r.cancel()
	r.shared.Shutdown()
	r.metaShared.Shutdown()
	r.running.Wait()
}

// identity is how a controller speaks to the API server.
type identity struct {
	kubernetes.Interface
	metadata metadata.Interface
	config   *rest.Config
}

// identities are those that were given out, so that controllers that run again
// keep their connections.
type identities struct {
	cluster *Cluster
	given   map[string]identity
}

// get makes the identity of a user, or returns the one there is.
func (i identities) get(user string, groups ...string) (identity, error) {
	if known, ok := i.given[user]; ok {
		return known, nil
	}
	config, err := i.cluster.ClientConfig(user, groups...)
	if err != nil {
		return identity{}, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return identity{}, fmt.Errorf("client of %s: %w", user, err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return identity{}, fmt.Errorf("client of %s: %w", user, err)
	}
	i.given[user] = identity{client, meta, config}
	return i.given[user], nil
}
