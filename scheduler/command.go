package scheduler

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/tracing"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/version"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// NewCommand makes the command of kube-scheduler, with all its flags. Before anything else it
// starts the guests of its --config, and reports all mistakes in it on one line. Options add
// plugins, as those of [app.NewSchedulerCommand] do.
func NewCommand(host *wasmhost.Host, plugins ...app.Option) *cobra.Command {
	opts, ours := options.NewOptions(), &ownFlags{}
	cmd := &cobra.Command{Use: "kube-scheduler"}
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return opts.ComponentGlobalsRegistry.Set() } // the feature gates
	addFlags(cmd, opts, ours)
	cmd.Long = "kube-scheduler with the Wasm plugins that its configuration names, and the native plugin RegexScheduling.\n\n" +
		"Examples:\n  scheduler --config scheduler.yaml\n  scheduler --config scheduler.yaml --write-config-to complete.yaml" // its help does not show cobra's examples
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// Before the configuration is read: it may be wrong.
		if cmd.Flags().Lookup("version").Value.String() == "true" {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version.String())
			return err
		}
		verflag.PrintAndExitIfRequested() // --version=raw
		compiledIn, err := kubescheduler.Registry(plugins...)
		if err != nil {
			return err
		}
		for _, name := range []string{"kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"} {
			if err := readfile.Kubeconfig(cmd.Flags().Lookup(name).Value.String()); err != nil {
				return err
			}
		}
		gates := opts.ComponentGlobalsRegistry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
		if err := logsapi.ValidateAndApply(opts.Logs, gates); err != nil { // before a guest can be unavailable
			return err
		}
		p := &kubescheduler.Plugins{Host: host, CompiledIn: compiledIn, Patience: ours.patience}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ctx, stop) // a second signal ends the process at once
		if err := startGuests(ctx, p, opts.ConfigFile); err != nil {
			return err
		}
		return runScheduler(ctx, cmd, opts, ours, p, gates)
	}
	cli.Complete(cmd)
	return cmd
}

// ownFlags are the values of the flags that kube-scheduler does not have.
type ownFlags struct {
	decisions cli.Bytes
	tracing   string // a file
	patience  time.Duration
}

// patience is how long a start waits for guests. With the last fetch of each of two, and their start, it is within the startup probe of deploy/.
const patience = 90 * time.Second

// mostPatience is more than any start should wait: what takes longer is a mistake in a unit.
const mostPatience = 24 * time.Hour

// addFlags adds the flags that app.NewSchedulerCommand has, and our own.
func addFlags(cmd *cobra.Command, opts *options.Options, ours *ownFlags) {
	sets := opts.Flags
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	sets.FlagSet("decisions").Var(&ours.decisions, "decisions", "Keep the last attempts to schedule each pod in about this much memory, such as 64Mi, and serve them at "+decisions.Path+"NAMESPACE/POD; 0 keeps none.")
	sets.FlagSet("tracing").StringVar(&ours.tracing, "tracing-config-file", "", "File with a TracingConfiguration, as that of kube-apiserver: where spans of attempts, extension points and guests' calls are sent.")
	ours.patience = patience
	sets.FlagSet("guests").Var(cli.Duration(&ours.patience, 0, mostPatience), "wait-for-guests", "At the start, how long to ask again for guests whose server does not answer, or has another guest than guestSHA256 names; 0 asks once.")
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	columns, _, _ := term.TerminalSize(cmd.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(cmd, *sets, columns)
	_ = cmd.MarkFlagFilename("config", "yaml", "yml", "json")
}

// runScheduler does what the command of app.NewSchedulerCommand does, and what our own flags say.
func runScheduler(ctx context.Context, cmd *cobra.Command, opts *options.Options, ours *ownFlags, plugins *kubescheduler.Plugins, gates featuregate.FeatureGate) error {
	cliflag.PrintFlags(cmd.Flags())
	if err := hooks.NameInformers(opts); err != nil {
		return err
	}
	var provider tracing.TracerProvider
	if ours.tracing != "" {
		var err error
		if provider, err = kubescheduler.TracerProvider(ctx, ours.tracing); err != nil {
			return err
		}
		defer func() { _ = provider.Shutdown(context.WithoutCancel(ctx)) }()
	}
	wait := func(frameworkruntime.Registry) error { // Setup has read all files by then
		if err := plugins.Wait(ctx); err != nil {
			return fmt.Errorf("config %s: %w", opts.ConfigFile, err)
		}
		return nil
	}
	cc, sched, err := app.Setup(ctx, opts, wait, plugins.Register)
	if err != nil {
		return err
	}
	hooks.AddGateMetrics(gates.(featuregate.MutableFeatureGate))
	opts.ComponentGlobalsRegistry.AddMetrics()
	bytes := int(ours.decisions.Value())
	if bytes > 0 {
		if err := kubescheduler.ServeDecisions(ctx, cc, sched, bytes); err != nil {
			return fmt.Errorf("--decisions: %w", err)
		}
	}
	if provider != nil {
		kubescheduler.TraceAttempts(sched, provider)
	}
	return app.Run(ctx, cc, sched)
}

// startGuests reads a configuration, if there is one, and starts those of its guests that are available.
func startGuests(ctx context.Context, plugins *kubescheduler.Plugins, path string) error {
	if path == "" {
		return nil
	}
	configuration, err := readfile.All(path)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	c, err := kubescheduler.Read(configuration)
	if err != nil {
		return fmt.Errorf("config %s: %w", path, err)
	}
	effective, err := plugins.Start(ctx, c)
	if err == nil {
		err = readfile.Kubeconfig(effective.ClientConnection.Kubeconfig)
	}
	if err != nil {
		return fmt.Errorf("config %s: %w", path, err)
	}
	return nil
}
