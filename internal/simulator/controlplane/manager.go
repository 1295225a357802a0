package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/informers"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/reconcile"
)

const workers = 2

type controller struct {
	// account is its service account in kube-system, to which the API server
	// binds the rights that it needs.
	account string
	// make adds its loops to the running ones.
	make func(ctx context.Context, r *controllers, as identity) error
}

type controllers struct {
	shared     informers.SharedInformerFactory
	metaShared metadatainformer.SharedInformerFactory
	started    chan struct{} // closed once these are
	loops      []func(context.Context)

	cancel  context.CancelFunc
	running sync.WaitGroup
}

func (r *controllers) core() coreinformers.Interface   { return r.shared.Core().V1() }
func (r *controllers) batch() batchinformers.Interface { return r.shared.Batch().V1() }

// startControllers runs controllers until stop. Their informers are shared, and
// have the identity of kube-controller-manager itself.
func (m *manager) startControllers(which []controller) (*controllers, error) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &controllers{started: make(chan struct{}), cancel: cancel}
	if err := m.make(ctx, which, r); err != nil {
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

func (m *manager) make(ctx context.Context, which []controller, r *controllers) error {
	own, err := m.identity("system:kube-controller-manager")
	if err != nil {
		return err
	}
	r.shared = informers.NewSharedInformerFactoryWithOptions(own, 0, informers.WithTransform(reconcile.StripManagedFields))
	r.metaShared = metadatainformer.NewSharedInformerFactoryWithOptions(own.metadata, 0, metadatainformer.WithTransform(reconcile.StripManagedFields))
	for _, one := range which {
		// A certificate stands in for the token of the account, so that there need be no such object.
		as, err := m.identity(serviceaccount.MakeUsername(metav1.NamespaceSystem, one.account), serviceaccount.MakeGroupNames(metav1.NamespaceSystem)...)
		if err == nil {
			err = one.make(ctx, r, as)
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
		return fmt.Errorf("%T has no known Run method", c)
	}
	return nil
}

// stop may be called on nil.
func (r *controllers) stop() {
	if r == nil {
		return
	}
	r.cancel()
	r.shared.Shutdown()
	r.metaShared.Shutdown()
	r.running.Wait()
}

type identity struct {
	kubernetes.Interface
	metadata metadata.Interface
	config   *rest.Config
}

// manager starts and stops controllers: what kube-controller-manager is to a
// cluster of machines.
type manager struct {
	cluster    *Cluster
	identities map[string]identity // by user, so that controllers that start again keep their connections

	mu      sync.Mutex
	running *controllers // nil while they are paused
	stopped bool
}

func startManager(c *Cluster, paused bool) (*manager, error) {
	m := &manager{cluster: c, identities: map[string]identity{}}
	if paused {
		return m, nil
	}
	return m, m.resume()
}

// identity returns that of a user, and makes it the first time.
func (m *manager) identity(user string, groups ...string) (identity, error) {
	if known, ok := m.identities[user]; ok {
		return known, nil
	}
	config, err := m.cluster.ClientConfig(user, groups...)
	if err != nil {
		return identity{}, err
	}
	client, err := kubernetes.NewForConfig(config)
	meta, metaErr := metadata.NewForConfig(config)
	if err := errors.Join(err, metaErr); err != nil {
		return identity{}, fmt.Errorf("client of %s: %w", user, err)
	}
	m.identities[user] = identity{client, meta, config}
	return m.identities[user], nil
}

// stop ends all controllers. It may be called on nil, and again.
func (m *manager) stop() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.stopped {
		m.stopped = true
		m.running.stop()
	}
}

var errStopped = errors.New("the control plane was stopped")

// Pause stops the controllers, and returns when the last of them has stopped. So none acts on half of
// the objects that belong together, such as a ReplicaSet and its pods. Resume starts them again.
func (c *Cluster) Pause() error {
	m := c.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return errStopped
	}
	m.running.stop()
	m.running = nil
	return nil
}

// Resume ends a pause, also the one that a cluster was started with.
func (c *Cluster) Resume() error { return c.manager.resume() }

func (m *manager) resume() (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running == nil && !m.stopped {
		m.running, err = m.startControllers(slices.Concat(cleaners, keepers, nodes, volumes, workloads))
	}
	return err
}
