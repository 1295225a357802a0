// Package engine runs kube-scheduler and Kubernetes' controllers over a cluster in memory. When [Engine.Run] returns, every pod
// that can be scheduled is, and the outcome of the others is known. Nothing waits for a time: the clock is the engine's, and
// moves when nothing else can. The same cluster, configuration and seed give the same outcome.
//
// It starts no server and no control plane. Package scheduling in it has the scheduler, package controllermanager the
// controllers.
package engine

import (
	"context"
	"net/http"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	feature "k8s.io/apiserver/pkg/util/feature"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/controllers"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/clock"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/controllermanager"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/scheduling"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/timeline"
)

// Options say which scheduler is run over which cluster.
type Options struct {
	Config *kubescheduler.Configuration
	// ConfigName is what reports call the configuration, and ConfigReason why it is this one. Both may be empty.
	ConfigName, ConfigReason string

	Plugins   frameworkruntime.Registry // further ones, by name. It may be nil
	Transport http.RoundTripper         // fetches guests. Nil is http.DefaultTransport
	Cluster   *snapshot.Snapshot        // what there is. It is the engine's from then on
	// Seed decides what kube-scheduler leaves to chance.
	Seed uint64
	// Recorder gets every attempt, all verdicts and scores. Nil: what [Outcome] has is enough.
	Recorder *recorder.Recorder
	// PodGroups has those of the cluster and of what is created later be scheduled as one,
	// where this minor of Kubernetes can. It stays so in this process. A cluster that has some does so, too.
	PodGroups bool
	// Shown gives an extender the name to show in a recorder, by its URL. It may be nil.
	Shown func(url string) string
	// ReadAll has a run end with an [UnreadError] when the scheduler tries a pod whose regex nothing in the configuration reads.
	ReadAll bool
	// Workloads are Kubernetes' controllers that create and delete pods here, such as [Workloads]. The disruption and the node
	// controller always run.
	Workloads []controllers.Controller
}

// Workloads are Kubernetes' controllers that create pods, but for that of CronJobs: what these start while the clock steps
// would never end.
var Workloads = slices.DeleteFunc(slices.Clone(controllers.Workloads), func(c controllers.Controller) bool { return c.Name == "cronjob-controller" })

// Daemons are of these only what creates the pods of DaemonSets.
var Daemons = slices.DeleteFunc(slices.Clone(controllers.Workloads), func(c controllers.Controller) bool { return c.Name != "daemon-set-controller" })

// UnreadError is why a run ended: nothing reads the regex of its Pods, of which some are pending and were not tried.
type UnreadError = scheduling.UnreadError

// Engine is a cluster with its scheduler and its controllers. Use it from one goroutine.
type Engine struct {
	Cluster   *cluster.Cluster
	Scheduler *scheduling.Scheduler

	controllers *controllermanager.Manager
	clock       *clock.Clock
	groups      *recorder.Recorder // nil if no pods are scheduled as one
	config      *kubescheduler.Configuration
	basis       report.Basis
	absent      sets.Set[string] // DaemonSets that have pods, and are not in the file
	nodes       sets.Set[string] // that are in the file
	bound       sets.Set[string] // claims that have a volume in the file
	unlisted    sets.Set[string] // kinds that the file may lack
	remedy      string           // what to do for a file that has them
	digests     *snapshot.Digests
	within      map[string]string // as in [snapshot.Source]
	namespaces  sets.Set[string]  // of pods that have a node in the file
}

// New makes an engine. Nothing is scheduled yet. Errors are the ones of [kubescheduler.Run], or name the object of the cluster, or the field of
// a controller, that is at fault.
func New(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{config: o.Config, clock: clock.New(o.Cluster.Time()), absent: sets.Set[string]{}, nodes: sets.Set[string]{}, bound: sets.Set[string]{}}
	e.basis = report.Basis{Config: o.ConfigName, ConfigReason: o.ConfigReason, Seed: o.Seed}
	if o.Cluster.Source != nil {
		e.basis.Cluster = o.Cluster.Source.String()
		e.digests = o.Cluster.Source.Digests
		e.within = o.Cluster.Source.Within
	}
	e.namespaces = sets.Set[string]{}
	for i := range o.Cluster.Pods {
		if o.Cluster.Pods[i].Spec.NodeName != "" {
			e.namespaces.Insert(o.Cluster.Pods[i].Namespace)
		}
	}
	e.unlisted, e.remedy = unlisted(o.Cluster)
	if o.PodGroups || len(o.Cluster.PodGroups) > 0 {
		err := enablePodGroups()
		if err != nil {
			return nil, err
		}
		if o.Recorder == nil {
			o.Recorder = recorder.New(func() {}) // which says how much of a group fits
		}
		e.groups = o.Recorder
	}
	var err error
	e.Cluster, err = cluster.New(e.clock.Now)
	if err != nil {
		return nil, err
	}
	err = e.Cluster.Load(o.Cluster)
	if err != nil {
		return nil, err
	}
	for _, node := range cluster.All[*v1.Node](e.Cluster) {
		e.nodes.Insert(node.Name)
	}
	for _, claim := range cluster.All[*v1.PersistentVolumeClaim](e.Cluster) {
		if claim.Spec.VolumeName != "" {
			e.bound.Insert(cluster.NameOf(claim).String())
		}
	}
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		of := e.Cluster.WorkloadOf(pod)
		if of.Kind == "DaemonSet" && cluster.Get[*appsv1.DaemonSet](e.Cluster, pod.Namespace, of.Name) == nil {
			e.absent.Insert(pod.Namespace + "/" + of.Name)
		}
	}
	e.Scheduler, err = scheduling.New(ctx, scheduling.Options{
		Config: o.Config, Plugins: o.Plugins, Transport: o.Transport, Seed: o.Seed, Recorder: o.Recorder, PodGroups: e.groups != nil, Shown: o.Shown, ReadAll: o.ReadAll,
		Cluster: e.Cluster, Clock: e.clock, SyncBudgets: e.SyncBudgets,
	})
	if err != nil {
		return nil, err
	}
	e.controllers, err = controllermanager.New(ctx, e.Cluster, e.clock, o.Workloads)
	if err != nil {
		e.Scheduler.Close()
		return nil, err
	}
	e.Cluster.Start()
	err = e.Cluster.Err()
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// enablePodGroups does so in all of this process, where this minor has them.
func enablePodGroups() error {
	if minor.NoPodGroups != "" {
		return nil
	}
	return feature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{"GenericWorkload": true})
}

// Close ends the scheduler and the controllers.
func (e *Engine) Close() {
	e.controllers.Close()
	e.Scheduler.Close()
}

// Describe is what an answer stands on by now.
func (e *Engine) Describe() report.Basis {
	basis := e.basis
	basis.NotModelled = slices.Concat(e.Cluster.NotModelled(), e.Scheduler.Unanswered())
	basis.Stopped = e.controllers.Unfinished(Horizon)
	basis.Ignored = e.Scheduler.Ignored()
	basis.Skipped = e.Cluster.Skipped
	basis.Inferred = e.Cluster.Inferred
	return basis
}

// Horizon is how far the clock goes on in a run for what controllers have to do later.
const Horizon = time.Hour

// Run has the controllers sync and the scheduler schedule until nothing is left to do before the [Horizon], or until ctx is
// done. If a plugin or an extender does not answer then, it is left behind: the engine cannot be used any more.
func (e *Engine) Run(ctx context.Context) error { return e.run(ctx, Horizon) }

// RunFor runs until nothing is left to do before some time has passed, and lets that time pass.
func (e *Engine) RunFor(ctx context.Context, passes time.Duration) error {
	until := e.clock.Current().Add(max(0, passes))
	err := e.run(ctx, passes)
	if err != nil {
		return err
	}
	e.clock.Step(max(0, until.Sub(e.clock.Current())))
	return nil
}

// patience is how long a run waits for a plugin or an extender after its context is done.
const patience = time.Second

func (e *Engine) run(ctx context.Context, horizon time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- e.reconcile(ctx, horizon) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return context.Cause(ctx)
	}
}

func (e *Engine) reconcile(ctx context.Context, horizon time.Duration) error {
	until := e.clock.Now().Add(horizon)
	version := e.Cluster.Version()
	changed := e.clock.Current()
	e.controllers.BeginRun()
	atEnd := false
	defer e.Cluster.OnChange(nil)
	for {
		// 1. The controllers create pods.
		e.controllers.EvictTainted()
		_, err := e.controllers.Sync(ctx)
		if err != nil {
			return err
		}
		// 2. The scheduler gives them nodes.
		err = e.Scheduler.ScheduleAll(ctx)
		if err != nil {
			return err
		}
		// 3. The controllers react to that.
		synced, err := e.controllers.Sync(ctx)
		if err != nil {
			return err
		}
		if e.Cluster.Version() != version {
			version = e.Cluster.Version()
			changed = e.clock.Current()
		}
		if !atEnd && e.clock.Current().After(until.Add(-horizon/10)) {
			atEnd = true
			e.Cluster.OnChange(e.controllers.RecordChanges)
		}
		// 4. When nothing is left to do, time passes.
		if !synced && !e.controllers.Advance(until) {
			e.clock.SetTime(changed) // after it, controllers have only looked
			return nil
		}
	}
}

// SyncControllers has the controllers work as far as they can without the scheduler and without time.
func (e *Engine) SyncControllers(ctx context.Context) error {
	_, err := e.controllers.Sync(ctx)
	return err
}

// HoldWorkloads has the controllers of workloads and of budgets do nothing, or go on.
func (e *Engine) HoldWorkloads(hold bool) { e.controllers.Hold(hold) }

// SyncBudgets has the controller of budgets count what they allow, held or not.
func (e *Engine) SyncBudgets(ctx context.Context) error { return e.controllers.SyncBudgets(ctx) }

// Try opens a transaction, as [cluster.Cluster.Try] does. After a rollback the controllers find that nothing is to do.
func (e *Engine) Try() (rollback, commit func()) {
	undo, commit := e.Cluster.Try()
	return func() {
		undo()
		_ = e.SyncControllers(context.Background()) // whose error the next run has, too
	}, commit
}

// Record begins a recording of what happens to pods and nodes.
func (e *Engine) Record() (*timeline.Timeline, error) {
	return timeline.Record(e.Cluster, e.clock, e.whyNotRunning)
}
