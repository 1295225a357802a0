package scheduler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// Options say how [Run] runs a scheduler inside this process.
type Options struct {
	// Kubeconfig is the path of a kubeconfig. It takes the place of the one
	// that Config may name.
	Kubeconfig string
	// Config is a KubeSchedulerConfiguration in YAML or JSON. Empty is
	// kube-scheduler's default. Its leader election is switched off.
	Config []byte
	// Transport carries the requests for guests. Nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Timeout bounds each fetch of a guest. Zero is wasmhost.DefaultTimeout.
	Timeout time.Duration
	// Plugins are further plugins, by name.
	Plugins frameworkruntime.Registry
	// Prepare, if set, gets the scheduler before it runs.
	Prepare func(*scheduler.Scheduler) error
	// Ready, if set, is called once the scheduler has seen the whole cluster
	// and begins to schedule.
	Ready func()
}

// Run runs a scheduler until ctx is done, and returns nil then. Every other end
// is an error; those of the configuration and of the guests come before the API
// server is contacted.
//
// It serves no port, elects no leader, keeps no compiled guest in a directory,
// leaves flags and the set-up of klog to the process (and logs to the logger in
// ctx, if there is one), and can be called again, even while another one runs. An
// API server that can't be reached is not an error: the scheduler waits for it.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := o.newSetup()
	defer s.host.Close()
	cc, sched, err := o.setup(ctx, s)
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	if o.Prepare != nil {
		if err := o.Prepare(sched); err != nil {
			return fmt.Errorf("scheduler: %w", err)
		}
	}
	return serve(ctx, cancel, cc, sched, o.Ready)
}

func (o Options) newSetup() *setup {
	return &setup{host: &wasmhost.Host{Transport: o.Transport, Timeout: o.Timeout, NoCache: true}, extra: o.Plugins}
}

func (o Options) setup(ctx context.Context, s *setup) (*schedulerconfig.CompletedConfig, *scheduler.Scheduler, error) {
	configuration, err := o.configuration()
	if err != nil {
		return nil, nil, err
	}
	if err := s.read(ctx, configuration); err != nil {
		return nil, nil, err
	}
	path, err := writeTemp(configuration)
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(path)
	opts := options.NewOptions()
	opts.ConfigFile = path
	opts.SecureServing.BindPort = 0
	cc, sched, err := app.Setup(ctx, opts, s.register)
	if err != nil {
		return nil, nil, locate(configuration, err)
	}
	return cc, sched, nil
}

// configuration is Config with what a scheduler in here can't do without.
func (o Options) configuration() ([]byte, error) {
	file := map[string]any{
		"apiVersion": "kubescheduler.config.k8s.io/v1",
		"kind":       "KubeSchedulerConfiguration",
	}
	if err := readable(o.Config); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if err := yaml.Unmarshal(o.Config, &file); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	set(file, "leaderElection", "leaderElect", false)
	if o.Kubeconfig != "" {
		set(file, "clientConnection", "kubeconfig", o.Kubeconfig)
	}
	return yaml.Marshal(file)
}

// set sets a field of one of the file's sections. What is no section is left for
// checkFields to tell of.
func set(file map[string]any, section, field string, value any) {
	if file[section] == nil {
		file[section] = map[string]any{}
	}
	if fields, ok := file[section].(map[string]any); ok {
		fields[field] = value
	}
}

// writeTemp writes the configuration to a private file, because kube-scheduler
// reads it from nowhere else.
func writeTemp(configuration []byte) (path string, err error) {
	f, err := os.CreateTemp("", "kube-scheduler-*.yaml")
	if err != nil {
		return "", err
	}
	_, err = f.Write(configuration)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
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
