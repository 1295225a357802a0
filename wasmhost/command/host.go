package command

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// pluginName is what the guest is called where no configuration calls it anything.
const pluginName = "Guest"

// argsFlags are what a scheduler's configuration would say of the guest.
func argsFlags(flags *pflag.FlagSet, args *wasmhost.Args) {
	flags.StringVar(&args.GuestConfig, "guest-config", "", "guestConfig, which the guest reads when it starts")
	flags.Int32Var(&args.LogSeverity, "log-severity", 0, "least severity that is logged: 0 info, 1 warning, 2 error")
}

// urlOf takes a path for what a configuration says as file://.
func urlOf(guest string) string {
	if strings.Contains(guest, "://") {
		return guest
	}
	return "file://" + filepath.ToSlash(guest)
}

// schedulerOf is the scheduler's framework with the guest, and with what the framework
// cannot be without. Close the host in the end.
func schedulerOf(ctx context.Context, host *wasmhost.Host, args wasmhost.Args, pods []*v1.Pod, nodes []*v1.Node, recorder events.EventRecorderLogger) (framework.Framework, error) {
	started, err := host.Start(ctx, pluginName, args)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(&rest.Config{}) // nobody answers, and nothing is asked
	if err != nil {
		return nil, err
	}
	metrics.Register()
	enabled := func(name string) config.PluginSet { return config.PluginSet{Enabled: []config.Plugin{{Name: name}}} }
	return frameworkruntime.NewFramework(ctx, frameworkruntime.Registry{
		pluginName: func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			return started.Plugin(ctx, handle), nil
		},
		queuesort.Name:     queuesort.New,
		defaultbinder.Name: defaultbinder.New,
	}, &config.KubeSchedulerProfile{
		SchedulerName: v1.DefaultSchedulerName,
		Plugins: &config.Plugins{
			MultiPoint: enabled(pluginName), QueueSort: enabled(queuesort.Name), Bind: enabled(defaultbinder.Name),
		},
	},
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(client, 0)),
		frameworkruntime.WithSnapshotSharedLister(cache.NewSnapshot(pods, nodes)),
		frameworkruntime.WithEventRecorder(recorder),
	)
}
