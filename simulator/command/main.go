// Package command is the command line of cmd/simulator. [Main] is for simulators with
// plugins of their own, too.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/capture"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// Main is all that main of a simulator does. The options add plugins to the ones that it
// has, as options of kube-scheduler's own command do:
//
//	command.Main(app.WithPlugin(mine.Name, mine.New))
//
// They can be in every configuration that it runs, on both sides of a comparison, too.
// It does not return. Call it first: this program compiles guests in children of its own.
func Main(options ...app.Option) {
	wasmhost.CompileInChild()
	cli.Main(func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return run(ctx, args, stdout, stderr, options...)
	})
}

// run is Main with everything it touches passed in. It ends when ctx does.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, options ...app.Option) int {
	plugins, err := kubescheduler.Registry(options...)
	if err != nil {
		printable.Error(stderr, "simulator", err)
		return cli.StatusUsage
	}
	cmd := newSimulator(plugins)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err = cmd.ExecuteContext(ctx); err == nil {
		return 0
	}
	printable.Error(stderr, "simulator", err)
	var interrupted interruptedError
	if errors.As(err, &interrupted) {
		return statusInterrupted
	}
	var usage cli.UsageError
	var none noResultError
	if errors.As(err, &usage) || errors.As(err, &none) {
		return cli.StatusUsage
	}
	return 1
}

// pagePort is the port of kube-scheduler-simulator's page, too.
const pagePort = 3000

type options struct {
	simulator.Config
	listen         string
	port           int
	from, confFile string
	stdin          io.Reader // for from -
	maxSize        maxSize   // of the file of from
	cluster        capture.Options
	objectsOnly    bool
	example        bool
	objects        *snapshot.Snapshot // to copy, or nil
	notices        []snapshot.Notice  // of objects
	headless       bool
}

func newSimulator(plugins frameworkruntime.Registry) *cobra.Command {
	o := &options{Config: simulator.Config{Plugins: plugins}}
	cmd := &cobra.Command{
		Use:   "simulator",
		Short: "Simulate a Kubernetes cluster in one process, with a web page",
		Long: `Simulate a Kubernetes cluster in one process: etcd, kube-apiserver, controllers, fake kubelets and kube-scheduler
with regex scheduling. The web page shows why each pod is where it is. Nothing runs in the pods.`,
		Example: `  # Start an empty cluster; its page is http://localhost:3000
  simulator

  # Start with a few nodes and pods to look at
  simulator --example

  # Start with a copy of a cluster
  simulator --from cluster.yaml.gz

  # Compare two configurations of the scheduler, without starting a cluster
  simulator compare --cluster cluster.yaml.gz --a before.yaml --b after.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Resume = !cmd.Flags().Changed("plugin") && !cmd.Flags().Changed("config")
			o.stdin = cmd.InOrStdin()
			return serve(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.AddFlags(flags)
	o.cluster.AddFlags(flags, "real cluster to copy at the start; it is only read")
	portFlag(cmd, &o.port, 0, "port of the page and its API; 0 is any free one")
	flags.StringVar(&o.listen, "listen", "127.0.0.1",
		"address of the page and its API; there is no password: who reaches it can do everything with the cluster")
	flags.BoolVar(&o.headless, "headless", false, "serve the API without the page")
	flags.StringVar(&o.confFile, "config", "", "file with the KubeSchedulerConfiguration to start with, instead of --plugin")
	flags.StringVar(&o.from, "from", "",
		`file with a cluster to copy at the start: from "simulator snapshot", an export of this or of kube-scheduler-simulator, or from kubectl get -o yaml or json; or a folder or an archive of such files, or - for standard input`)
	o.maxSize.add(flags)
	flags.BoolVar(&o.example, "example", false, "start with three nodes, and pods whose regex matches some, none, and is invalid; reset removes them")
	flags.BoolVar(&o.objectsOnly, "objects-only", false, "ignore the scheduler's configuration in the file of --from")
	cmd.AddCommand(newSnapshot(), newCompare(plugins), newSide(plugins), newFit(plugins),
		newDrain(plugins), newShrink(plugins), newWhy(plugins), newRollout(plugins), newUpgrade(plugins), newFail(plugins),
		newAsk("reset", "Reset a running simulator to the state at its start",
			func(ctx context.Context, port int) error { return ask(ctx, http.MethodPut, port, "reset") }),
		newAsk("stop", "Stop a running simulator, and wait until it has stopped", stopRunning))
	cli.Complete(cmd)
	return cmd
}

func portFlag(cmd *cobra.Command, port *int, least int, use string) {
	*port = pagePort
	cmd.Flags().Var(cli.Number(port, least, math.MaxUint16), "port", use)
}

// newAsk makes a command that sends a request to a running simulator.
func newAsk(use, short string, ask func(context.Context, int) error) *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		Example: "  simulator " + use + " --port 3001",
		RunE:    func(cmd *cobra.Command, _ []string) error { return ask(cmd.Context(), port) },
	}
	portFlag(cmd, &port, 1, "port of its page")
	return cmd
}

// stopTime is how long a simulator may take to stop.
const stopTime = 30 * time.Second

func stopRunning(ctx context.Context, port int) error {
	if err := ask(ctx, http.MethodPost, port, "stop"); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, stopTime, true, func(context.Context) (bool, error) {
		conn, err := net.Dial("tcp", address(port))
		if err == nil {
			conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED), nil
	})
	if err != nil {
		return fmt.Errorf("the simulator at port %d has not stopped within %s", port, stopTime)
	}
	return nil
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func ask(ctx context.Context, method string, port int, path string) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+address(port)+"/api/v1/"+path, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy
	response, err := client.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no simulator runs at port %d: start one, or say where it is with --port", port)
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusAccepted {
		return nil
	}
	var problem struct{ Message string }
	_ = json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&problem)
	return fmt.Errorf("%s: %s %s", path, response.Status, problem.Message)
}
