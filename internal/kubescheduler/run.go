package kubescheduler

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"

	feature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	baseconfig "k8s.io/component-base/config"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"k8s.io/utils/clock"

	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// Options say how [Run] runs a scheduler inside this process.
type Options struct {
	// Kubeconfig is the path of a kubeconfig. It replaces the one that Config may name.
	Kubeconfig string
	// Config is what [Read] has read. Leader election is switched off.
	Config *Configuration
	// Transport carries the requests for guests. Nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Plugins are further plugins, by name.
	Plugins frameworkruntime.Registry
	// Gates are values of feature gates while the scheduler is made.
	Gates map[string]bool
	// ExtenderBind lets extenders with a bindVerb bind pods. Without it the scheduler binds these
	// pods, and the extenders get no bind request: they may bind pods of another cluster.
	ExtenderBind bool
	// Decisions is about how many bytes of attempts are kept, as --decisions of the command says.
	// Metrics count the attempts; no port serves them.
	Decisions int
	// Prepare, if set, gets the scheduler before it runs.
	Prepare func(*scheduler.Scheduler) error
	// Ready, if set, is called once the scheduler has seen the whole cluster
	// and begins to schedule.
	Ready func()
}

// Run runs a scheduler until ctx is done, and then returns nil. Every other end is an error.
// Errors of the configuration and of the guests come before the API server is contacted. Those
// of fields are [Mistakes].
//
// It serves no port, elects no leader, and leaves flags and the set-up of klog to the process. It
// logs to the logger in ctx, if there is one. It can be called again, even while another one runs.
// An API server that can't be reached is not an error: the scheduler waits for it. A plugin that
// panics costs its pod an error that names the function.
func Run(ctx context.Context, o Options) (err error) {
	defer Recover(ctx, &err)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	plugins, config, err := o.startPlugins(ctx, o.guests())
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	defer plugins.Host.Close()
	api, sender, err := connect(o.Kubeconfig, config.ClientConnection)
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	defer sender.Shutdown()
	sched, err := o.newScheduler(ctx, plugins, config, api)
	if err == nil && o.Decisions > 0 {
		record(api.Informers, sched, o.Decisions)
	}
	if err == nil && o.Prepare != nil {
		err = o.Prepare(sched)
	}
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	if err := sender.StartRecordingToSinkWithContext(ctx); err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	return serve(ctx, cancel, api, sched, o.Ready)
}

// guests says where guests come from.
func (o Options) guests() wasmhost.Options { return fetch.Fetcher{Transport: o.Transport}.Options() }

// startPlugins starts the guests of the configuration, and returns it with all defaults.
func (o Options) startPlugins(ctx context.Context, guests wasmhost.Options) (*Plugins, *config.KubeSchedulerConfiguration, error) {
	plugins := &Plugins{Host: wasmhost.New(guests), CompiledIn: o.Plugins}
	effective, err := plugins.Start(ctx, o.Config.forUs())
	if err != nil {
		plugins.Host.Close()
		return nil, nil, err
	}
	return plugins, effective, nil
}

// connect makes the API of a server, and what sends events to it. It sends no request.
func connect(kubeconfig string, client baseconfig.ClientConnectionConfiguration) (api API, sender events.EventBroadcaster, err error) {
	if err := readfile.Kubeconfig(kubeconfig); err != nil {
		return api, nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return api, nil, err
	}
	config.DisableCompression = true // as kube-scheduler does
	config.AcceptContentTypes, config.ContentType = client.AcceptContentTypes, client.ContentType
	config.QPS, config.Burst = client.QPS, int(client.Burst)
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return api, nil, err
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return api, nil, err
	}
	forEvents, err := kubernetes.NewForConfig(config) // as in kube-scheduler: with a limit of its own
	if err != nil {
		return api, nil, err
	}
	sender = events.NewBroadcaster(&events.EventSinkImpl{Interface: forEvents.EventsV1()})
	return API{
		Client: typed, Config: config, Clock: clock.RealClock{},
		Informers: hooks.NewInformers(typed),
		Dynamic:   dynamicinformer.NewDynamicSharedInformerFactory(untyped, 0),
		Events:    func(name string) minor.EventRecorder { return sender.NewRecorder(scheme.Scheme, name) },
	}, sender, nil
}

// serve is app.Run without what a process can have only once: its name in the
// registry of configurations, and the exit at the end of leadership.
func serve(ctx context.Context, cancel func(), api API, sched *scheduler.Scheduler, ready func()) error {
	api.Informers.Start(ctx.Done())
	defer api.Informers.Shutdown()
	api.Dynamic.Start(ctx.Done())
	defer api.Dynamic.Shutdown()
	defer cancel() // before the factories wait for their informers

	api.Informers.WaitForCacheSync(ctx.Done())
	api.Dynamic.WaitForCacheSync(ctx.Done())
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("scheduler: waiting for the cluster's state: %w", err)
	}
	if ready != nil {
		ready()
	}
	sched.Run(ctx)
	return nil
}

// API is a cluster for [New].
type API struct {
	Client    kubernetes.Interface
	Config    *rest.Config // for plugins that make clients of their own
	Informers informers.SharedInformerFactory
	Dynamic   dynamicinformer.DynamicSharedInformerFactory
	Events    profile.RecorderFactory
	Clock     clock.WithTicker
	// Parallelism replaces that of the configuration, if it is not zero.
	Parallelism int32
}

// New makes a scheduler over an API that the caller has, and does not run it. Call done when it is not used any more: what it and
// its plugins have started ends with that. Errors and panics are handled as in [Run].
func New(ctx context.Context, o Options, api API) (sched *scheduler.Scheduler, done func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	guests := o.guests()
	guests.FetchNew = nil // one question has the answers of one guest
	plugins, config, err := o.startPlugins(ctx, guests)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			plugins.Host.Close()
		}
	}()
	defer Recover(ctx, &err)
	sched, err = o.newScheduler(ctx, plugins, config, api)
	return sched, func() { cancel(); _ = sched.Profiles.Close(); plugins.Host.Close() }, err
}

func (o Options) newScheduler(ctx context.Context, plugins *Plugins, config *config.KubeSchedulerConfiguration, api API) (sched *scheduler.Scheduler, err error) {
	registry := frameworkruntime.Registry{}
	if err := plugins.Register(registry); err != nil {
		return nil, err
	}
	err = withGates(o.Gates, func() error {
		sched, err = scheduler.New(ctx, api.Client, api.Informers, api.Dynamic, api.Events, append(hooks.Options(config),
			scheduler.WithComponentConfigVersion(config.APIVersion),
			scheduler.WithKubeConfig(api.Config),
			scheduler.WithProfiles(config.Profiles...),
			scheduler.WithPercentageOfNodesToScore(config.PercentageOfNodesToScore),
			scheduler.WithFrameworkOutOfTreeRegistry(registry),
			scheduler.WithPodMaxBackoffSeconds(config.PodMaxBackoffSeconds),
			scheduler.WithPodInitialBackoffSeconds(config.PodInitialBackoffSeconds),
			scheduler.WithExtenders(config.Extenders...),
			scheduler.WithParallelism(cmp.Or(api.Parallelism, config.Parallelism)),
			scheduler.WithClock(api.Clock),
		)...)
		return err
	})
	if err != nil {
		return nil, err
	}
	catchPanics(sched)
	o.bindHere(ctx, sched, api.Client)
	return sched, nil
}

// making is held while a scheduler is made, which reads the feature gates of the process.
var making sync.Mutex

// withGates calls do while feature gates have other values, and no other scheduler is made.
func withGates(gates map[string]bool, do func() error) error {
	making.Lock()
	defer making.Unlock()
	of := feature.DefaultMutableFeatureGate
	were := map[string]bool{}
	for name := range gates {
		were[name] = of.Enabled(featuregate.Feature(name))
	}
	if err := of.SetFromMap(gates); err != nil {
		return err
	}
	defer func() { _ = of.SetFromMap(were) }() // cannot fail: they had these values
	return do()
}
