// Package simulator puts a whole cluster into this process: a control plane,
// fake kubelets, the web server of the guests, and a kube-scheduler that uses one
// of the doors, whose configuration can be changed while everything else goes on.
//
// It wires what the packages beside it do. It has no page and no HTTP API: those
// stand on it.
package simulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/simulator/kubelets"
	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
	"wasmkwokwizardry.io/regex-scheduling/simulator/resultannotations"
	"wasmkwokwizardry.io/regex-scheduling/simulator/stages"
	"wasmkwokwizardry.io/regex-scheduling/simulator/stages/player"
	"wasmkwokwizardry.io/regex-scheduling/simulator/volumes"
	"wasmkwokwizardry.io/regex-scheduling/static/guestserver"
)

// Config says how to run a simulator. Its zero value needs a Door or a
// SchedulerConfig.
type Config struct {
	// Door is one of Doors.
	Door string
	// SchedulerConfig is a KubeSchedulerConfiguration, in YAML or JSON. It takes
	// the place of that of Door.
	SchedulerConfig []byte
	// DataDir keeps the cluster, and the configuration that was applied last.
	// Empty: a temporary one, removed at the end.
	DataDir string
	// Importing says that ImportFirst comes next: no controller acts before it is
	// done, not even on what is in DataDir.
	Importing bool
	// Resume starts with the configuration that DataDir keeps, if there is one
	// that can be used.
	Resume bool
	// APIPort and WebPort are where the API server and the web server of the
	// guests listen on 127.0.0.1. Zero: any free port.
	APIPort, WebPort int
	// Prepare, which may be nil, gets each scheduler before it runs, with the
	// recorder attached.
	Prepare func(*scheduler.Scheduler)
	// NoWorkloads leaves out the controllers of Deployments and all else that makes
	// pods.
	NoWorkloads bool
	// ResultAnnotations writes on each scheduled pod what its attempts came to, in
	// the annotations of kube-scheduler-simulator.
	ResultAnnotations bool
	// Stages are what objects do, in the place of what the kubelets would have their
	// kind do. Nil: none.
	Stages *stages.Set
	// Progress is told each step as it begins. It may be nil.
	Progress func(step string)
	// Warnings gets a line for each thing that a person should know, such as what
	// the kubelets warn of, few at a time. Nil drops them.
	Warnings io.Writer
}

// Simulator is a running cluster.
type Simulator struct {
	cluster   *controlplane.Cluster
	web       *guestserver.Server
	extender  *extender.Running
	transport *http.Transport // for the names of our own servers
	client    kubernetes.Interface
	informers informers.SharedInformerFactory
	recorder  *recorder.Recorder
	prepare   func(*scheduler.Scheduler)
	changes   signal
	volumes   func() // waits for the end of those who make volumes

	cancel  context.CancelCauseFunc // ends the kubelets and the scheduler
	running context.Context         // done when any part has ended

	stopping sync.Once
	stopped  error // what came of it

	warnings   *warnings
	dataDir    string // that is kept, or empty
	unfinished unfinished
	importing  bool // controllers are held until ImportFirst is done

	initial    []byte     // the configuration that Reset restores
	beginning  beginning  // the objects that it does
	kubeconfig string     // of the scheduler
	applying   sync.Mutex // held while the scheduler is changed
	mu         sync.Mutex // guards the rest
	config     []byte
	scheduler  *instance
}

// Start brings everything up, and returns once pods are being scheduled. ctx
// bounds the start only; call Stop to end the simulator. On an error nothing is
// left running.
func Start(ctx context.Context, cfg Config) (*Simulator, error) {
	if cfg.Progress == nil {
		cfg.Progress = func(string) {}
	}
	s := &Simulator{
		initial: bytes.Clone(cfg.SchedulerConfig), dataDir: cfg.DataDir, importing: cfg.Importing, prepare: cfg.Prepare,
		warnings: &warnings{to: cfg.Warnings, now: time.Now},
	}
	s.recorder = recorder.New(s.changes.send)
	if s.initial == nil {
		var err error
		if s.initial, err = SchedulerConfig(cfg.Door); err != nil {
			return nil, err
		}
	}
	s.running, s.cancel = context.WithCancelCause(context.Background())
	if err := s.start(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Simulator) start(ctx context.Context, cfg Config) (err error) {
	if err := s.startServers(cfg); err != nil {
		return err
	}
	s.unfinished.file = unfinishedIn(cfg.DataDir)
	if err := s.unfinished.check(); err != nil && !s.importing {
		return err
	}
	if _, _, err := s.resolve(s.initial); err != nil {
		return err // before the control plane takes its seconds
	}
	cfg.Progress("web server of the guests on " + s.WebServer())
	s.cluster, err = controlplane.Start(ctx, controlplane.Config{
		DataDir: cfg.DataDir, Port: cfg.APIPort, NoWorkloads: cfg.NoWorkloads, Held: s.importing, Progress: cfg.Progress,
	})
	if err != nil {
		return err
	}
	go s.endWithCluster()
	if err := s.startKubelets(cfg); err != nil {
		return err
	}
	if err := s.startCaches(ctx); err != nil {
		return err
	}
	if cfg.ResultAnnotations {
		resultannotations.Start(s.running, s.client, s.recorder, s.warnings.say)
	}
	if s.volumes, err = volumes.Start(s.running, s.client, s.informers, cfg.Stages, warningsOf{"fake volumes", s.warnings}); err != nil {
		return err
	}
	if cfg.DataDir != "" { // else nothing is there
		if err := s.remember(ctx); err != nil {
			return err
		}
	}
	// The scheduler runs under the identity, and so with the rights, that it has
	// in any cluster.
	s.kubeconfig = filepath.Join(s.cluster.DataDir(), "scheduler.kubeconfig")
	if err := s.cluster.WriteKubeconfig(s.kubeconfig, "system:kube-scheduler"); err != nil {
		return err
	}
	return s.firstScheduler(ctx, cfg)
}

// startServers starts the servers that configurations refer to by name.
func (s *Simulator) startServers(cfg Config) (err error) {
	if s.web, err = guestserver.Start(fmt.Sprintf("127.0.0.1:%d", cfg.WebPort)); err != nil {
		return fmt.Errorf("web server: %w", err)
	}
	s.transport = guestserver.Names(map[string]string{"static-webserver": s.web.Address()})
	s.extender, err = startExtender()
	return err
}

// endWithCluster makes an end of the control plane the end of everything.
func (s *Simulator) endWithCluster() {
	<-s.cluster.Done()
	s.cancel(fmt.Errorf("the control plane has ended: %w", s.cluster.Err()))
}

// startKubelets starts what has nodes, pods, and whatever there are stages of, go
// on. Stages may do everything, since they may be of any kind, and in any name.
func (s *Simulator) startKubelets(cfg Config) error {
	cfg.Progress("fake kubelets: " + doing(cfg.Stages))
	config, err := s.cluster.ClientConfig("kubelets", "system:masters")
	if err != nil {
		return err
	}
	if err := kubelets.Start(s.running, config, cfg.Stages, warningsOf{"fake kubelets", s.warnings}); err != nil {
		return err
	}
	return player.Start(s.running, config, cfg.Stages, log.New(warningsOf{"stages", s.warnings}, "", 0))
}

// doing tells what nodes and pods do, and what stages there are.
func doing(set *stages.Set) string {
	if len(set.Kinds()) == 0 {
		return "nodes become Ready, bound pods Running"
	}
	var all []string
	if set.Of(stages.Nodes) == nil {
		all = append(all, "nodes become Ready")
	}
	if set.Of(stages.Pods) == nil {
		all = append(all, "bound pods Running")
	}
	for _, kind := range set.Kinds() {
		all = append(all, fmt.Sprintf("stages of %s: %d", kind, len(set.Of(kind))))
	}
	return strings.Join(all, ", ")
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

// Context is done when Done is closed.
func (s *Simulator) Context() context.Context { return s.running }

// Err is the reason for Done.
func (s *Simulator) Err() error { return context.Cause(s.running) }

// errStopped is the reason for Done after Stop.
var errStopped = errors.New("the simulator was stopped")

// Stop ends everything, the clients of the API before the API, and waits until
// it has. It may be called again.
func (s *Simulator) Stop() error {
	s.stopping.Do(func() { s.stopped = s.stop() })
	return s.stopped
}

func (s *Simulator) stop() error {
	s.cancel(errStopped)
	s.applying.Lock() // a change that is under way has seen the end coming
	defer s.applying.Unlock()
	s.stopScheduler()
	if s.volumes != nil {
		s.volumes()
	}
	if s.informers != nil {
		s.informers.Shutdown()
	}
	var errs []error
	if s.cluster != nil {
		errs = append(errs, s.cluster.Stop())
	}
	if s.extender != nil {
		errs = append(errs, s.extender.Stop())
	}
	if s.web != nil {
		errs = append(errs, s.web.Close())
		s.transport.CloseIdleConnections()
	}
	return errors.Join(errs...)
}
