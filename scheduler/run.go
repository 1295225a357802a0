package scheduler

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// Options say how [Run] runs a scheduler inside this process.
type Options struct {
	// Kubeconfig is the path of a kubeconfig. It takes the place of the one
	// that Config may name.
	Kubeconfig string
	// Config is what [Read] has read. Leader election is switched off.
	Config *Configuration
	// Transport carries the requests for guests. Nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Plugins are further plugins, by name.
	Plugins frameworkruntime.Registry
	// Gates are feature gates that are otherwise while the scheduler is made.
	Gates map[string]bool
	// ExtenderBind lets extenders with a bindVerb bind pods. Else nothing is sent to it,
	// and the scheduler binds: the extender's own cluster may be another than this one.
	ExtenderBind bool
	// Decisions is about how many bytes of the last attempts are kept and counted, as the command's
	// --decisions does. They are not served.
	Decisions int
	// Prepare, if set, gets the scheduler before it runs.
	Prepare func(*scheduler.Scheduler) error
	// Ready, if set, is called once the scheduler has seen the whole cluster
	// and begins to schedule.
	Ready func()
}

// Run runs a scheduler until ctx is done, and returns nil then. Every other end
// is an error; those of the configuration and of the guests come before the API
// server is contacted, and those of fields are [Mistakes].
//
// It serves no port, elects no leader, keeps no compiled guest in a directory,
// leaves flags and the set-up of klog to the process (and logs to the logger in
// ctx, if there is one), and can be called again, even while another one runs. An
// API server that can't be reached is not an error: the scheduler waits for it. A plugin
// that panics costs its pod an error that names the plugin.
func Run(ctx context.Context, o Options) (err error) {
	defer Recover(ctx, &err)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := o.newSetup()
	defer s.host.Close()
	cc, sched, err := o.setup(ctx, s, "")
	if err == nil && o.Decisions > 0 {
		record(cc, sched, o.Decisions)
	}
	if err == nil && o.Prepare != nil {
		err = o.Prepare(sched)
	}
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	return serve(ctx, cancel, cc, sched, o.Ready)
}

// Check returns the error of the configuration or of its guests with which [Run]
// would end. It makes a scheduler, guests and all, and does not run it, so it needs no
// cluster and contacts none.
func Check(ctx context.Context, o Options) (err error) {
	defer Recover(ctx, &err)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := o.newSetup()
	defer s.host.Close()
	o.Kubeconfig = ""
	cc, _, err := o.setup(ctx, s, "http://127.0.0.1:1") // which is not asked anything
	if err != nil {
		return err
	}
	cc.EventBroadcaster.Shutdown()
	return nil
}

func (o Options) newSetup() *setup {
	return &setup{host: wasmhost.New(wasmhost.Options{Transport: o.Transport, NoCache: true}), extra: o.Plugins}
}

// setup makes a scheduler for the API server of the kubeconfig, or for another one.
func (o Options) setup(ctx context.Context, s *setup, server string) (*schedulerconfig.CompletedConfig, *scheduler.Scheduler, error) {
	c := o.Config.forUs(o.Kubeconfig)
	if err := s.read(ctx, c); err != nil {
		return nil, nil, err
	}
	text, err := yaml.Marshal(c.file)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "kube-scheduler-") // it reads a configuration from a file only
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	opts := options.NewOptions()
	opts.ConfigFile = filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(opts.ConfigFile, text, 0o600); err != nil {
		return nil, nil, err
	}
	opts.Master = server
	opts.SecureServing.BindPort = 0
	var cc *schedulerconfig.CompletedConfig
	var sched *scheduler.Scheduler
	err = withGates(o.Gates, func() error {
		cc, sched, err = app.Setup(ctx, opts, s.register)
		return err
	})
	if err != nil {
		return nil, nil, c.locate(err, s.rejected)
	}
	catchPanics(sched)
	o.bindHere(ctx, sched, cc.Client)
	return cc, sched, nil
}

// serve is app.Run without what a process can have only once: its name in the
// registry of configurations, and the exit at the end of leadership.
func serve(ctx context.Context, cancel func(), cc *schedulerconfig.CompletedConfig, sched *scheduler.Scheduler, ready func()) error {
	cc.EventBroadcaster.StartRecordingToSink(ctx.Done())
	defer cc.EventBroadcaster.Shutdown()
	cc.InformerFactory.Start(ctx.Done())
	defer cc.InformerFactory.Shutdown()
	cc.DynInformerFactory.Start(ctx.Done())
	defer cc.DynInformerFactory.Shutdown()
	defer cancel() // before the factories wait for their informers

	cc.InformerFactory.WaitForCacheSync(ctx.Done())
	cc.DynInformerFactory.WaitForCacheSync(ctx.Done())
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

// API is what a scheduler is made over by [New].
type API struct {
	Client    kubernetes.Interface
	Config    *rest.Config // that plugins make clients of their own from
	Informers informers.SharedInformerFactory
	Dynamic   dynamicinformer.DynamicSharedInformerFactory
	Events    profile.RecorderFactory
	Clock     clock.WithTicker
	// Parallelism takes the place of that of the configuration, if it is not zero.
	Parallelism int32
}

// New makes a scheduler over an API that the caller has, and does not run it. Call done
// when it is not used any more. Errors are [Run]'s. A panic of a plugin is handled as there.
func New(ctx context.Context, o Options, api API) (sched *scheduler.Scheduler, done func(), err error) {
	s := o.newSetup()
	defer func() {
		if err != nil {
			s.host.Close()
		}
	}()
	defer Recover(ctx, &err)
	c := o.Config.forUs("")
	if err := s.read(ctx, c); err != nil {
		return nil, nil, err
	}
	config, err := c.Effective()
	if err != nil {
		return nil, nil, err
	}
	plugins := frameworkruntime.Registry{}
	if err := s.register(plugins); err != nil {
		return nil, nil, err
	}
	if api.Parallelism == 0 {
		api.Parallelism = config.Parallelism
	}
	err = withGates(o.Gates, func() error {
		sched, err = scheduler.New(ctx, api.Client, api.Informers, api.Dynamic, api.Events,
			scheduler.WithComponentConfigVersion(config.APIVersion),
			scheduler.WithKubeConfig(api.Config),
			scheduler.WithProfiles(config.Profiles...),
			scheduler.WithPercentageOfNodesToScore(config.PercentageOfNodesToScore),
			scheduler.WithFrameworkOutOfTreeRegistry(plugins),
			scheduler.WithPodMaxBackoffSeconds(config.PodMaxBackoffSeconds),
			scheduler.WithPodInitialBackoffSeconds(config.PodInitialBackoffSeconds),
			scheduler.WithExtenders(config.Extenders...),
			scheduler.WithParallelism(api.Parallelism),
			scheduler.WithClock(api.Clock),
		)
		return err
	})
	if err != nil {
		return nil, nil, c.locate(err, s.rejected)
	}
	catchPanics(sched)
	o.bindHere(ctx, sched, api.Client)
	return sched, func() { _ = sched.Profiles.Close(); s.host.Close() }, nil
}
