package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	aggregated "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
	"k8s.io/kubernetes/pkg/controlplane/apiserver"
	openapi "k8s.io/kubernetes/pkg/generated/openapi"

	minor "wasmkwokwizardry.io/regex-scheduling/internal/minor/controlplane"
)

const (
	// drainTime is what open watches and idle connections get at the end. Their
	// clients are in this process or at a kubectl, and can bear a cut.
	drainTime = 500 * time.Millisecond
	// stopTime bounds stop: past it the server is stuck and left behind.
	stopTime = 10 * time.Second
)

type apiServer struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error // why it ended; read it after done
}

// startAPIServer serves on the listener, which it owns from here on.
func startAPIServer(dir *dataDir, ca *authority, etcd string, listener net.Listener) (*apiServer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	run, err := buildAPIServer(ctx, dir, ca, etcd, listener)
	if err != nil {
		cancel()
		listener.Close()
		return nil, fmt.Errorf("start kube-apiserver: %w", err)
	}
	s := &apiServer{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = run(ctx)
	}()
	return s, nil
}

// buildAPIServer does what kube-apiserver's own command does with its flags.
func buildAPIServer(ctx context.Context, dir *dataDir, ca *authority, etcd string, listener net.Listener) (func(context.Context) error, error) {
	opts := apiServerOptions(ca, etcd, listener)
	// Fixes the feature gates of the process. Kube-scheduler's command does the
	// same to the same registry, and it may be done again.
	if err := opts.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	completed, err := opts.Complete(ctx)
	if err != nil {
		return nil, err
	}
	errs := completed.Validate()
	if len(errs) != 0 {
		return nil, utilerrors.NewAggregate(errs)
	}
	config, err := newConfig(completed)
	if err != nil {
		return nil, err
	}
	chain, err := config.Complete()
	if err != nil {
		return nil, err
	}
	server, err := app.CreateServerChain(chain)
	if err != nil {
		return nil, err
	}
	server.GenericAPIServer.ShutdownTimeout = drainTime
	prepared, err := server.PrepareRun()
	if err != nil {
		return nil, err
	}
	return prepared.Run, nil
}

// newConfig does what app.NewConfig does, without a network.
func newConfig(opts options.CompletedOptions) (*app.Config, error) {
	served := controlplane.DefaultAPIResourceConfigSource()
	// It asks a scheduler and a controller manager on this machine how they are.
	served.DisableResources(corev1.SchemeGroupVersion.WithResource("componentstatuses"))
	generic, informers, storage, err := minor.BuildGenericConfig(opts.CompletedOptions,
		[]*runtime.Scheme{legacyscheme.Scheme, extensions.Scheme, aggregated.Scheme}, served, openapi.GetOpenAPIDefinitions)
	if err != nil {
		return nil, err
	}
	generic.EgressSelector = noNetwork()
	kinds, services, plugins, err := app.CreateKubeAPIServerConfig(opts, generic, informers, storage)
	if err != nil {
		return nil, err
	}
	proxied := kinds.ControlPlane.ProxyTransport
	conversions := webhook.NewDefaultAuthenticationInfoResolverWrapper(proxied, generic.EgressSelector, generic.LoopbackClientConfig, generic.TracerProvider)
	custom, err := apiserver.CreateAPIExtensionsConfig(*generic, informers, plugins, opts.CompletedOptions, opts.MasterCount, services, conversions)
	if err != nil {
		return nil, err
	}
	all, err := apiserver.CreateAggregatorConfig(*generic, opts.CompletedOptions, informers, services, proxied, kinds.ControlPlane.PeerProxy, plugins)
	if err != nil {
		return nil, err
	}
	generic.RESTOptionsGetter = fewCaches{generic.RESTOptionsGetter}
	return &app.Config{Options: opts, KubeAPIs: kinds, ApiExtensions: custom, Aggregator: all}, nil
}

// noNetwork refuses all connections of the API server but those to etcd. In a copy of a real
// cluster the addresses of nodes, pods, services and webhooks belong to real machines.
func noNetwork() *egressselector.EgressSelector {
	refuse := func(_ context.Context, _, address string) (net.Conn, error) {
		return nil, fmt.Errorf("%s is not called: the cluster is simulated, and nothing runs behind what its objects name", address)
	}
	return egressselector.NewEgressSelectorWithMap(map[egressselector.EgressType]utilnet.DialFunc{
		egressselector.Cluster: refuse, egressselector.ControlPlane: refuse,
	})
}

func (s *apiServer) stop() error {
	s.cancel()
	select {
	case <-s.done:
		return s.err
	case <-time.After(stopTime):
		return fmt.Errorf("kube-apiserver did not stop within %s", stopTime)
	}
}

const (
	readyPoll    = 25 * time.Millisecond
	readyTimeout = 2 * time.Minute // a laptop under load, with a wide margin
	abortTimeout = 10 * time.Second
)

// waitReady waits for /readyz and for the namespaces and the service "kubernetes", which
// controllers of kube-apiserver make without /readyz waiting for them.
//
// It goes on waiting for a while when ctx is done: a kube-apiserver that is
// stopped before its start hooks are through ends the process.
func (s *apiServer) waitReady(ctx context.Context, admin *rest.Config) error {
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(abortTimeout, cancel) })()
	var last error
	err = wait.PollUntilContextCancel(patient, readyPoll, true, func(ctx context.Context) (bool, error) {
		select {
		case <-s.done:
			return false, fmt.Errorf("it ended: %w", s.err)
		default:
		}
		last = ready(ctx, client)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for kube-apiserver: %w", errors.Join(err, last))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("start kube-apiserver: %w", context.Cause(ctx))
	}
	return nil
}

func ready(ctx context.Context, client kubernetes.Interface) error {
	if _, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
		return fmt.Errorf("/readyz: %w", err) // which has the checks that fail
	}
	for _, name := range []string{corev1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease} {
		if _, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
	}
	if _, err := client.CoreV1().Services(corev1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{}); err != nil {
		return fmt.Errorf("service kubernetes: %w", err)
	}
	return nil
}
