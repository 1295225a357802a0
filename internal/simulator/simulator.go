// Package simulator puts a whole cluster into this process: a control plane,
// fake kubelets, the web server of the guests, and a kube-scheduler that uses one
// of the variants, whose configuration can be changed while everything else goes on.
// Page and HTTP API are in the packages below it.
package simulator

import (
	"context"
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/utils/clock"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/kubelets"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/resultannotations"
)

// A panic on a goroutine of client-go, such as in an informer's handler of a plugin, in PreEnqueue or in a queueing
// hint, is logged and does not end the whole cluster. Package scheduler catches those in plugins' other methods.
func init() { utilruntime.ReallyCrash = false }

// Simulator is a running cluster.
type Simulator struct {
	*controlplane.Cluster
	servers
	caches
	schedulers
	settings    Config
	baseline    baseline
	savedConfig string // its file; empty: nothing is saved
	warnings    *log.Logger

	importing  sync.Mutex // while objects are imported, or reset
	unfinished string     // the file that is there meanwhile; empty: nothing is kept

	cancel  context.CancelCauseFunc // ends all but the control plane and the servers
	running context.Context         // done when any part has ended
	waits   []func()                // for the end of what changes objects
	stop    func() error            // the first time; then it returns the same
}

// Start brings everything up, and returns once pods are being scheduled. ctx
// bounds the start only; call Stop to end the simulator. On an error nothing is
// left running.
func Start(ctx context.Context, cfg Config) (*Simulator, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	warnings := newWarnings(cfg.Warnings, clock.RealClock{})
	s := &Simulator{settings: cfg, warnings: warnings.of("")}
	if cfg.DataDir != "" {
		s.savedConfig = filepath.Join(cfg.DataDir, savedFile)
	}
	s.baseline.config = cfg.SchedulerConfig
	s.recorder = recorder.New(s.changes.send)
	s.running, s.cancel = context.WithCancelCause(context.Background())
	s.stop = sync.OnceValue(s.end)
	if err := s.start(ctx, warnings); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Simulator) start(ctx context.Context, warnings *warnings) (err error) {
	cfg := s.settings
	if err := feature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{"GenericWorkload": cfg.PodGroups}); err != nil {
		return err
	}
	if s.servers, err = startServers(cfg.WebPort, true); err != nil {
		return err
	}
	if err := s.checkFinished(); err != nil {
		return err
	}
	if _, _, err := s.resolve(s.baseline.config); err != nil {
		return err // before the control plane takes its seconds
	}
	cfg.Progress("web server of the guests on " + s.WebServer())
	s.Cluster, err = controlplane.Start(ctx, controlplane.Config{
		DataDir: cfg.DataDir, Port: cfg.APIPort, Paused: cfg.Importing, Progress: cfg.Progress,
	})
	if err != nil {
		return err
	}
	go func() { // an end of the control plane is the end of everything
		<-s.Cluster.Done()
		s.cancel(fmt.Errorf("the control plane has ended: %w", s.Cluster.Err()))
	}()
	if err := s.startCaches(ctx, s.running, s.AdminConfig(), warnings.of("caches: ")); err != nil {
		return err
	}
	if err := s.startNodes(warnings); err != nil {
		return err
	}
	if cfg.ResultAnnotations {
		s.waits = append(s.waits, resultannotations.Start(s.running, s.client, s.recorder, warnings.of("result annotations: ")))
	}
	if err := s.keep(startVolumes(s.running, s.client, s.informers, warnings.of("fake volumes: "))); err != nil {
		return err
	}
	if s.baseline.state, err = s.State(ctx); err != nil {
		return err
	}
	return s.firstScheduler(ctx)
}

func (s *Simulator) startNodes(warnings *warnings) error {
	if s.settings.Kubelets == NoKubelets {
		return nil
	}
	s.settings.Progress("fake kubelets: nodes become Ready, bound pods Running")
	return s.keep(kubelets.Start(s.running, s.client, s.informers, warnings.of("fake kubelets: ")))
}

func (s *Simulator) keep(wait func(), err error) error {
	if err == nil {
		s.waits = append(s.waits, wait)
	}
	return err
}

// Done is closed when any part of the simulator has ended; Err is the reason.
func (s *Simulator) Done() <-chan struct{} { return s.running.Done() }

// Err is the reason for Done.
func (s *Simulator) Err() error { return context.Cause(s.running) }

// errStopped is the reason after Stop.
var errStopped = errors.New("the simulator was stopped")

// Stop ends everything, the clients of the API before the API, and waits until
// it has. It may be called again.
func (s *Simulator) Stop() error { return s.stop() }

func (s *Simulator) end() error {
	s.cancel(errStopped)
	s.applying.Lock() // a change that is under way has seen the end coming
	defer s.applying.Unlock()
	s.stopScheduler()
	for _, wait := range s.waits {
		wait()
	}
	if s.informers != nil {
		s.informers.Shutdown()
	}
	var err error
	if s.Cluster != nil {
		err = s.Cluster.Stop()
	}
	return errors.Join(err, s.stopServers())
}
