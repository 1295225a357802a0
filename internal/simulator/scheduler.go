package simulator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/internal/atomicfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// schedulers are the one that runs, and what all that follow it have in common.
type schedulers struct {
	recorder   *recorder.Recorder
	kubeconfig string

	applying sync.Mutex // while another takes over
	mu       sync.Mutex // guards the rest
	config   []byte
	current  *instance
	silent   []snapshot.Notice
}

type instance struct {
	cancel      context.CancelFunc
	ready, done chan struct{}
	err         error          // why it ended; read it after done
	extenders   []fwk.Extender // read them after ready
}

// Recorder keeps the scheduling attempts.
func (s *schedulers) Recorder() *recorder.Recorder { return s.recorder }

// SchedulerConfig is the current configuration, as it was given.
func (s *schedulers) SchedulerConfig() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.config)
}

// ApplySchedulerConfig restarts the scheduler with another configuration, and
// returns once that one schedules. If the configuration is invalid, the error says
// why, and the current scheduler goes on: it is stopped only when the new one and its
// guests are ready.
func (s *Simulator) ApplySchedulerConfig(ctx context.Context, config []byte) error {
	s.applying.Lock()
	defer s.applying.Unlock()
	if err := s.apply(ctx, config); err != nil {
		return err
	}
	s.saveConfig(config)
	return nil
}

// apply is ApplySchedulerConfig without saving the configuration. The caller has locked
// applying.
func (s *Simulator) apply(ctx context.Context, config []byte) error {
	if s.running.Err() != nil {
		return context.Cause(s.running)
	}
	resolved, typed, err := s.resolve(config)
	if err != nil {
		return err
	}
	next := s.startScheduler(ctx, resolved, typed)
	select {
	case <-next.ready:
	case <-next.done:
		return cmp.Or(context.Cause(s.running), context.Cause(ctx), next.err)
	}
	s.mu.Lock()
	s.current, s.config = next, bytes.Clone(config)
	s.mu.Unlock()
	s.changes.send()
	s.tryExtenders(next.extenders, typed)
	return nil
}

// tryExtenders asks each extender about a pod and no nodes, and warns of the ones that do not answer within their
// httpTimeout: else only the first pod shows it.
func (s *Simulator) tryExtenders(extenders []fwk.Extender, typed func(string) string) {
	var silent []snapshot.Notice
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "try", Namespace: metav1.NamespaceDefault, UID: "try"}}
	for _, extender := range extenders {
		_, _, _, err := extender.Filter(pod, nil)
		if err == nil {
			_, _, err = extender.Prioritize(pod, nil)
		}
		if err != nil {
			silent = append(silent, snapshot.Notice{About: "extender " + typed(extender.Name()), Reason: err.Error()})
			s.warnings.Printf("extender %s does not answer: %v", typed(extender.Name()), err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = silent
}

// Unanswered are the extenders that did not answer when the configuration was applied, and why.
func (s *schedulers) Unanswered() []snapshot.Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent
}

// startScheduler starts a scheduler that takes over from the one that runs. Until
// it does, the end of ctx ends it.
func (s *Simulator) startScheduler(ctx context.Context, config *kubescheduler.Configuration, typed func(string) string) *instance {
	running, cancel := context.WithCancel(s.running)
	next := &instance{cancel: cancel, ready: make(chan struct{}), done: make(chan struct{})}
	keep := context.AfterFunc(ctx, cancel)
	tookOver, detach := false, func() {}
	takeOver := func(sched *scheduler.Scheduler) error {
		if !keep() {
			return context.Cause(ctx)
		}
		s.stopScheduler()
		tookOver = true
		next.extenders = slices.Clone(hooks.Extenders(sched))
		detach = s.recorder.Attach(sched, typed)
		warnOfPatterns(sched, config)
		s.warnOfBinders(sched, typed)
		if s.settings.Prepare != nil {
			s.settings.Prepare(sched)
		}
		return nil
	}
	go func() {
		defer close(next.done)
		defer cancel()
		next.err = kubescheduler.Run(running, kubescheduler.Options{
			Kubeconfig: s.kubeconfig,
			Config:     config,
			Transport:  s.transport,
			Plugins:    s.settings.Plugins,
			Prepare:    takeOver,
			Ready:      func() { close(next.ready) },

			ExtenderBind: s.settings.ExtenderBind,
			Gates:        map[string]bool{"GenericWorkload": s.settings.PodGroups}, // which a what-if may have switched on in this process
		})
		keep()
		detach()
		if tookOver && next.err != nil && running.Err() == nil { // there is none now, and so no simulator
			s.cancel(fmt.Errorf("the scheduler has ended: %w", next.err))
		}
	}()
	return next
}

// warnOfBinders names the extenders that are not asked to bind pods.
func (s *Simulator) warnOfBinders(sched *scheduler.Scheduler, typed func(string) string) {
	for _, extender := range hooks.Extenders(sched) {
		if extender.IsBinder() && !s.settings.ExtenderBind {
			s.warnings.Printf("extender %s: its bindVerb is not called, and pods are bound without it: it may bind pods in a real cluster; "+
				"if it binds them in this one, start the simulator with --extender-bind", typed(extender.Name()))
		}
	}
}

// stopScheduler stops the scheduler, if one runs, and waits until it has ended.
func (s *schedulers) stopScheduler() {
	s.mu.Lock()
	current := s.current
	s.current = nil
	s.mu.Unlock()
	if current != nil {
		current.cancel()
		<-current.done
	}
}

// savedFile is the name of the configuration that was applied last, in a data directory.
const savedFile = "scheduler-config.yaml"

// firstScheduler starts the scheduler with the configuration that was saved, or
// else with the given one. A saved one that is not valid any more does not keep the
// simulator from starting: it can be fixed on the page.
func (s *Simulator) firstScheduler(ctx context.Context) error {
	// The scheduler has the rights that it has in any cluster.
	s.kubeconfig = filepath.Join(s.DataDir(), "scheduler.kubeconfig")
	if err := s.WriteKubeconfig(s.kubeconfig, "system:kube-scheduler"); err != nil {
		return err
	}
	s.applying.Lock()
	defer s.applying.Unlock()
	saved, err := os.ReadFile(s.savedConfig)
	if s.settings.Resume && !errors.Is(err, fs.ErrNotExist) {
		s.settings.Progress("kube-scheduler with the configuration kept in " + s.savedConfig)
		if err == nil {
			err = s.apply(ctx, saved)
		}
		if err == nil {
			s.baseline.config = saved
			return nil
		}
		if ctx.Err() != nil || s.running.Err() != nil {
			return fmt.Errorf("%s: %w", s.savedConfig, err)
		}
		s.warnings.Printf("the kept configuration %s cannot be used: %v; %s runs instead: fix the file or remove it, and start again, "+
			"or apply another, which then takes its place", s.savedConfig, err, s.settings.configName)
	}
	s.settings.Progress("kube-scheduler with " + s.settings.configName)
	return s.apply(ctx, s.settings.SchedulerConfig)
}

// saveConfig saves the configuration for the next start, if there is to be one.
func (s *Simulator) saveConfig(config []byte) {
	if s.savedConfig == "" {
		return
	}
	if err := atomicfile.WriteBytes(s.savedConfig, config); err != nil {
		s.warnings.Printf("the configuration is in use, but not kept for the next start: %v", err)
	}
}
