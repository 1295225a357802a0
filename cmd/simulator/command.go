package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/walkthrough"
)

// apiPort is where kube-scheduler-simulator has its API server too.
const apiPort = 3131

func newCommand() *cobra.Command {
	var cfg simulator.Config
	cmd := &cobra.Command{
		Use:           "simulator",
		Short:         "A whole Kubernetes cluster in one process, to see regex scheduling at work",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), cfg, cmd.OutOrStdout())
		},
	}
	cmd.PersistentFlags().StringVar(&cfg.Door, "door", "v2",
		"way into the scheduler: "+strings.Join(simulator.Doors, ", "))
	cmd.Flags().StringVar(&cfg.DataDir, "data-dir", "", "directory that keeps the cluster (default: a temporary one)")
	cmd.Flags().IntVar(&cfg.APIPort, "api-port", apiPort, "port of the API server on 127.0.0.1; 0 is any free one")
	cmd.Flags().IntVar(&cfg.WebPort, "web-port", 0, "port of the web server of the guests on 127.0.0.1; 0 is any free one")
	cmd.AddCommand(newWalkthrough(&cfg))
	cmd.CompletionOptions.DisableDefaultCmd = true
	return cmd
}

func newWalkthrough(cfg *simulator.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "walkthrough",
		Short: "Start a cluster, do the steps by which the plugin is shown, and check what comes of them",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return walk(cmd.Context(), simulator.Config{Door: cfg.Door}, cmd.OutOrStdout())
		},
	}
}

// serve runs a simulator until ctx is done.
func serve(ctx context.Context, cfg simulator.Config, out io.Writer) error {
	s, err := start(ctx, cfg, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `
  API server   %s
  kubeconfig   %s
  web server   %s

Try it in another terminal:

  export KUBECONFIG=%s
  kubectl get nodes

Ctrl-C stops everything.
`, s.Host(), s.Kubeconfig(), s.WebServer(), s.Kubeconfig())
	select {
	case <-ctx.Done():
		return stop(s, out)
	case <-s.Done():
		return errors.Join(s.Err(), stop(s, out))
	}
}

// walk walks through on a simulator of its own.
func walk(ctx context.Context, cfg simulator.Config, out io.Writer) error {
	s, err := start(ctx, cfg, out)
	if err != nil {
		return err
	}
	err = walkthrough.Run(ctx, s.AdminConfig(), cfg.Door, out)
	return errors.Join(err, stop(s, out))
}

// start starts a simulator, and prints each step with the time it began at.
func start(ctx context.Context, cfg simulator.Config, out io.Writer) (*simulator.Simulator, error) {
	began := time.Now()
	say := func(step string) { fmt.Fprintf(out, "%5.1fs  %s\n", time.Since(began).Seconds(), step) }
	cfg.Progress = say
	s, err := simulator.Start(ctx, cfg)
	if err == nil {
		say("pods are being scheduled")
	}
	return s, err
}

func stop(s *simulator.Simulator, out io.Writer) error {
	began := time.Now()
	err := s.Stop()
	fmt.Fprintf(out, "\nstopped in %.1fs\n", time.Since(began).Seconds())
	return err
}
