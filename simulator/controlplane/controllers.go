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
	appsinformers "k8s.io/client-go/informers/apps/v1"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"

	"wasmkwokwizardry.io/regex-scheduling/simulator/reconcile"
)

const workers = 2

type controller struct {
	// account is its service account in kube-system, to which the API server
	// binds the rights that it needs.
	account string
	// make adds its loops to those that run.
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

func (r *controllers) stop() {
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
	meta, metaErr := metadata.NewForConfig(config)
	if err := errors.Join(err, metaErr); err != nil {
		return identity{}, fmt.Errorf("client of %s: %w", user, err)
	}
	i.given[user] = identity{client, meta, config}
	return i.given[user], nil
}

// manager starts and stops controllers: what kube-controller-manager is to a
// cluster of machines.
type manager struct {
	identities identities
	pausing    []controller // those that can

	mu      sync.Mutex
	cleaner *controllers // those that always run
	others  *controllers // nil while they pause
	pauses  int
	stopped bool
}

func startManager(c *Cluster, cfg Config) (*manager, error) {
	m := &manager{identities: identities{c, map[string]identity{}}, pausing: slices.Concat(keepers, volumes), pauses: 1}
	if !cfg.NoWorkloads {
		m.pausing = append(m.pausing, workloads...)
	}
	var err error
	if m.cleaner, err = startControllers(cleaners, m.identities); err != nil || cfg.Paused {
		return m, err
	}
	return m, m.resume()
}

// stop ends all controllers. It may be called on nil, and again.
func (m *manager) stop() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	m.stopped = true
	for _, running := range []*controllers{m.others, m.cleaner} {
		if running != nil {
			running.stop()
		}
	}
}

var errStopped = errors.New("the control plane was stopped")

// Pause stops the controllers that make and change objects, and returns when the
// last of them has; the garbage collector and the end of namespaces go on. So many
// objects can be made or deleted that belong together, such as a ReplicaSet and
// its pods, without a controller acting on half of them. Call resume once, after
// that: then controllers see the whole. Pauses may overlap; the last one to resume
// starts the controllers.
func (c *Cluster) Pause() (resume func() error, err error) {
	m := c.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return nil, errStopped
	}
	m.pauses++
	if m.others != nil {
		m.others.stop()
		m.others = nil
	}
	return m.resume, nil
}

// Resume ends the pause that a cluster was started with.
func (c *Cluster) Resume() error { return c.manager.resume() }

func (m *manager) resume() (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pauses--; m.pauses == 0 && !m.stopped {
		m.others, err = startControllers(m.pausing, m.identities)
	}
	return err
}
