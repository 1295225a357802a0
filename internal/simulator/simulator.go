// Package simulator puts a whole cluster into this process: a control plane,
// KWOK in the place of kubelets, the web server of the guests, and a
// kube-scheduler that uses one of the doors.
//
// It wires what the packages beside it do, and does nothing of it itself.
package simulator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"k8s.io/client-go/rest"

	"wasmkwokwizardry.io/regex-scheduling/internal/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/kwok"
	"wasmkwokwizardry.io/regex-scheduling/internal/webserver"
)

// Config says how to run a simulator. Its zero value needs a Door.
type Config struct {
	// Door is one of Doors.
	Door string
	// DataDir keeps the cluster. Empty: a temporary one, removed at the end.
	DataDir string
	// APIPort and WebPort are where the API server and the web server of the
	// guests listen on 127.0.0.1. Zero: any free port.
	APIPort, WebPort int
	// Progress is told each step as it begins.
	Progress func(step string)
}

// Simulator is a running cluster.
type Simulator struct {
	cluster *controlplane.Cluster
	web     *webserver.Server

	cancel    context.CancelCauseFunc // ends KWOK and the scheduler
	running   context.Context         // done when any part has ended
	scheduler sync.WaitGroup
}

// Start brings everything up, and returns once pods are being scheduled. ctx
// bounds the start only; call Stop to end the simulator. On an error nothing is
// left running.
func Start(ctx context.Context, cfg Config) (*Simulator, error) {
	config, err := SchedulerConfig(cfg.Door)
	if err != nil {
		return nil, err
	}
	s := &Simulator{}
	s.running, s.cancel = context.WithCancelCause(context.Background())
	if err := s.start(ctx, cfg, config); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Simulator) start(ctx context.Context, cfg Config, config []byte) (err error) {
	cfg.Progress("web server of the guests")
	if s.web, err = webserver.Start(cfg.WebPort); err != nil {
		return err
	}
	s.cluster, err = controlplane.Start(ctx, controlplane.Config{
		DataDir: cfg.DataDir, Port: cfg.APIPort, Progress: cfg.Progress,
	})
	if err != nil {
		return err
	}
	go s.endWithCluster()
	cfg.Progress("KWOK: nodes become Ready, bound pods Running")
	if err := s.startKWOK(); err != nil {
		return err
	}
	cfg.Progress("kube-scheduler with door " + cfg.Door)
	return s.startScheduler(ctx, config)
}

// endWithCluster makes an end of the control plane the end of everything.
func (s *Simulator) endWithCluster() {
	<-s.cluster.Done()
	s.cancel(fmt.Errorf("the control plane has ended: %w", s.cluster.Err()))
}

func (s *Simulator) startKWOK() error {
	config, err := s.cluster.ClientConfig("kwok", "system:masters")
	if err != nil {
		return err
	}
	return kwok.Start(s.running, config, nil)
}

// startScheduler runs the scheduler under the identity, and so with the rights,
// that it has in any cluster. It returns once pods are being scheduled.
func (s *Simulator) startScheduler(ctx context.Context, config []byte) error {
	kubeconfig := filepath.Join(s.cluster.DataDir(), "scheduler.kubeconfig")
	if err := s.cluster.WriteKubeconfig(kubeconfig, "system:kube-scheduler"); err != nil {
		return err
	}
	ready := make(chan struct{})
	s.scheduler.Go(func() {
		err := kubescheduler.Run(s.running, kubescheduler.Options{
			Kubeconfig: kubeconfig,
			Config:     config,
			Transport:  webserver.Names(map[string]string{"static-webserver": s.web.Address()}),
			Ready:      func() { close(ready) },
		})
		s.cancel(fmt.Errorf("the scheduler has ended: %w", err))
	})
	select {
	case <-ready:
		return nil
	case <-s.running.Done():
		return context.Cause(s.running)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// AdminConfig is a client configuration that may do everything.
func (s *Simulator) AdminConfig() *rest.Config { return s.cluster.AdminConfig() }

// Host is the address of the API server: https://127.0.0.1:port.
func (s *Simulator) Host() string { return s.cluster.Host() }

// Kubeconfig is the path of a kubeconfig that may do everything.
func (s *Simulator) Kubeconfig() string { return s.cluster.Kubeconfig() }

// WebServer is the address of the web server of the guests: http://127.0.0.1:port.
func (s *Simulator) WebServer() string { return "http://" + s.web.Address() }

// Done is closed when any part of the simulator has ended; Err says which, and
// why.
func (s *Simulator) Done() <-chan struct{} { return s.running.Done() }

// Err is the reason for Done.
func (s *Simulator) Err() error { return context.Cause(s.running) }

// errStopped is the reason for Done after Stop.
var errStopped = errors.New("the simulator was stopped")

// Stop ends everything, the clients of the API before the API, and waits until
// it has.
func (s *Simulator) Stop() error {
	s.cancel(errStopped)
	s.scheduler.Wait()
	var cluster, web error
	if s.cluster != nil {
		cluster = s.cluster.Stop()
	}
	if s.web != nil {
		web = s.web.Stop()
	}
	return errors.Join(cluster, web)
}
