// Package engine runs kube-scheduler over a cluster in memory, one attempt after the other:
// when [Engine.Run] returns, every pod that can be scheduled is, and the outcome of the
// others is known. Nothing waits for a time: the clock is the engine's, and moves when
// nothing else can. The same cluster, configuration and seed give the same outcome.
//
// It starts no server and no control plane.
package engine

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	feature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	clocktesting "k8s.io/utils/clock/testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/controllers"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// Options say which scheduler is run over which cluster.
type Options struct {
	Config *kubescheduler.Configuration
	// ConfigName is what reports call the configuration, and ConfigReason why it is this one. Both may be empty.
	ConfigName, ConfigReason string

	Plugins   frameworkruntime.Registry // further ones, by name. It may be nil
	Transport http.RoundTripper         // fetches guests. Nil is http.DefaultTransport
	Cluster   *snapshot.Snapshot        // what there is. It is used up
	// Seed decides what kube-scheduler leaves to chance.
	Seed uint64
	// Recorder gets every attempt, all verdicts and scores. Nil: what [Outcome] has is enough.
	Recorder *recorder.Recorder
	// PodGroups has those of the cluster and of what is created later be scheduled as one,
	// where this minor of Kubernetes can. It stays so in this process. A cluster that has some does so, too.
	PodGroups bool
	// Shown gives an extender the name to show in a recorder, by its URL. It may be nil.
	Shown func(url string) string
	// Workloads are Kubernetes' controllers that create and delete pods here, such as [Workloads]. The controllers that count
	// budgets and taint nodes always run.
	Workloads []controllers.Controller
}

// Engine is a scheduler and its cluster. Use it from one goroutine.
type Engine struct {
	Cluster   *cluster.Cluster
	Scheduler *scheduler.Scheduler
	// Preemption is off while it is set.
	Spare bool
	// OnAttempt, if set, is called when an attempt has ended.
	OnAttempt func(pod types.NamespacedName)

	controllers *controlled

	clock  *clock
	groups *recorder.Recorder // nil if no pods are scheduled as one
	seeded *seeded
	close  func()
	basis  report.Basis

	mu          sync.Mutex // guards what a binding cycle writes
	outcomes    map[types.NamespacedName]*Outcome
	evicted     map[types.NamespacedName]preemption
	progress    int                 // how many pods were bound or preempted
	freed       int                 // how many pods gave their place on a node back before they were bound
	unanswered  map[string]error    // extenders that did not answer
	ignored     sets.Set[string]    // pods whose regex no plugin reads
	absent      sets.Set[string]    // DaemonSets that have pods, and are not in the file
	tries       map[types.UID]tries // since the last progress
	bindings    map[types.UID]*binding
	unreleased  []*binding           // not released yet, since another attempt goes on or Permit plugins have them wait
	volumes     map[types.UID]func() // how to take volumes from pods that are not bound yet
	verdicts    knownVerdicts
	unfit       *framework.FitError // of the current attempt, or nil
	knownQueued int                 // at least this many pods are in the active queue
	taints      taints
}

type tries struct{ since, n int }

// clock is one whose time passes only when somebody looks at it, or steps it.
type clock struct{ *clocktesting.FakeClock }

// Now implements clock.PassiveClock. No two times are equal, so that pods are queued in
// the order in which they came.
func (c *clock) Now() time.Time {
	c.Step(time.Microsecond)
	return c.FakeClock.Now()
}

// New makes a scheduler over a cluster. Nothing is scheduled yet. Errors are the ones of
// [kubescheduler.Run], or name the object of the cluster that is at fault.
func New(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{
		clock:    &clock{clocktesting.NewFakeClock(o.Cluster.Time())},
		outcomes: map[types.NamespacedName]*Outcome{}, evicted: map[types.NamespacedName]preemption{},
		taints: taints{since: map[string]time.Time{}}, tries: map[types.UID]tries{}, bindings: map[types.UID]*binding{}, volumes: map[types.UID]func(){}, unanswered: map[string]error{},
		ignored: sets.Set[string]{}, absent: sets.Set[string]{},
	}
	o.PodGroups = o.PodGroups || len(o.Cluster.PodGroups) > 0
	if o.PodGroups && o.Recorder == nil {
		o.Recorder = recorder.New(func() {}) // which says how much of a group fits
	}
	e.basis = report.Basis{Config: o.ConfigName, ConfigReason: o.ConfigReason, Seed: o.Seed}
	if o.Cluster.Source != nil {
		e.basis.Cluster = o.Cluster.Source.String()
	}
	var err error
	if o.PodGroups {
		e.groups, err = o.Recorder, enablePodGroups()
		if err != nil {
			return nil, err
		}
	}
	if e.Cluster, err = cluster.New(e.clock.Now); err != nil {
		return nil, err
	}
	if err := e.Cluster.Load(o.Cluster); err != nil {
		return nil, err
	}
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		of := e.Cluster.WorkloadOf(pod)
		if of.Kind == "DaemonSet" && cluster.Get[*appsv1.DaemonSet](e.Cluster, pod.Namespace, of.Name) == nil {
			e.absent.Insert(pod.Namespace + "/" + of.Name)
		}
	}
	ctx = klog.NewContext(ctx, quiet)
	client, err := dynamic.NewForConfig(e.Cluster.Config)
	if err != nil {
		return nil, err
	}
	if err := e.makeScheduler(ctx, o, kubescheduler.API{
		Client: e.Cluster.Client, Config: e.Cluster.Config, Informers: e.Cluster.Scheduling, Dynamic: dynamicinformer.NewDynamicSharedInformerFactory(client, 0),
		Events: e.recordEvents, Clock: e.clock, Parallelism: 1,
	}); err != nil {
		return nil, err
	}
	e.wrap(o)
	if err := e.listen(); err != nil {
		return nil, err
	}
	if e.controllers, err = e.control(ctx, o.Workloads); err != nil {
		return nil, err
	}
	e.Cluster.Start()
	return e, e.Cluster.Err()
}

// enablePodGroups does so in all of this process, where this minor has them.
func enablePodGroups() error {
	if minor.NoPodGroups != "" {
		return nil
	}
	return feature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{"GenericWorkload": true})
}

// makeScheduler switches off what would go on beside an attempt.
func (e *Engine) makeScheduler(ctx context.Context, o Options, api kubescheduler.API) (err error) {
	gates := map[string]bool{string(features.SchedulerAsyncPreemption): false}
	e.Scheduler, e.close, err = kubescheduler.New(ctx, kubescheduler.Options{Config: o.Config, Transport: o.Transport, Plugins: o.Plugins, Gates: gates}, api)
	return err
}

// wrap puts the engine around the scheduler's functions and frameworks, and the recorder inside.
func (e *Engine) wrap(o Options) {
	sched := e.Scheduler
	shown := o.Shown
	if shown == nil {
		shown = printable.URL
	}
	for i, extender := range sched.Extenders {
		if extender.IsBinder() {
			e.Cluster.Unmodelled("bind by extender " + shown(extender.Name()) + " (the copy binds)")
		}
		sched.Extenders[i] = &listened{extender, e, shown(extender.Name())}
	}
	if o.Recorder != nil {
		o.Recorder.Attach(sched, shown)
	}
	e.seeded = newSeeded(o.Seed, sched)
	for name, of := range sched.Profiles {
		sched.Profiles[name] = &profile{of, e}
	}
	sched.SchedulePod = e.schedulePod(sched.SchedulePod)
	if o.Recorder == nil { // which gets each attempt
		e.verdicts = newKnownVerdicts(sched)
		sched.SchedulePod = e.scheduleByVerdict(sched.SchedulePod)
	}
	sched.SchedulePod = e.noteIgnored(sched.SchedulePod)
	sched.FailureHandler = e.failureHandler(sched.FailureHandler)
}

// listen forgets what was known of a pod when one of its name comes, and how many pods are surely queued when one that
// was is gone. It takes note of taints.
func (e *Engine) listen() error {
	_, err := e.Cluster.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			pod := o.(*v1.Pod)
			delete(e.outcomes, cluster.NameOf(pod))
			if e.evicted[cluster.NameOf(pod)].of == pod.UID { // which is undone
				delete(e.evicted, cluster.NameOf(pod))
			}
			e.taints.see(pod)
		},
		UpdateFunc: func(_, o any) {
			pod := o.(*v1.Pod)
			e.taints.see(pod)
			if podutil.IsPodTerminal(pod) { // which is gone for the scheduler
				e.knownQueued = 0
			}
		},
		DeleteFunc: func(any) { e.knownQueued = 0 },
	})
	_, wrong := e.Cluster.Informers.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(node any) {
			delete(e.taints.since, node.(*v1.Node).Name)
			e.taint(&v1.Node{}, node.(*v1.Node))
		},
		UpdateFunc: func(old, node any) { e.taint(old.(*v1.Node), node.(*v1.Node)) },
		DeleteFunc: func(node any) { e.taints.lose(node.(*v1.Node)) },
	})
	return errors.Join(err, wrong)
}

// Describe is what an answer stands on by now.
func (e *Engine) Describe() report.Basis {
	basis := e.basis
	basis.NotModelled = slices.Concat(e.Cluster.NotModelled(), e.Unanswered())
	basis.Stopped = e.controllers.unrest()
	basis.Ignored = e.Ignored()
	basis.Skipped = e.Cluster.Skipped
	return basis
}

// Close ends the scheduler.
func (e *Engine) Close() {
	e.controllers.stop()
	e.close()
}

// Horizon is how far the clock goes on in a run for what controllers have to do later.
const Horizon = time.Hour

// unanswered is how long a run waits for a plugin or an extender after its context is done.
const unanswered = time.Second

// Run has the controllers work and the scheduler schedule until nothing more comes of it within the [Horizon], or until ctx is done. If a plugin or an
// extender does not answer then, it is left behind: the engine cannot be used any more.
func (e *Engine) Run(ctx context.Context) error { return e.runUntil(ctx, Horizon) }

func (e *Engine) runUntil(ctx context.Context, horizon time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- e.controllers.settle(ctx, horizon) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(unanswered):
		return context.Cause(ctx)
	}
}

// schedule does so until nothing more comes of it without a controller.
func (e *Engine) schedule(ctx context.Context) (err error) {
	defer kubescheduler.Recover(ctx, &err)
	e.progress++
	ctx = klog.NewContext(ctx, quiet)
	for e.queued() || e.later() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := e.Cluster.Err(); err != nil {
			return err
		}
		if e.knownQueued > 0 {
			e.knownQueued--
			e.attempt(ctx)
		}
	}
	return e.Cluster.Err()
}

// attempt is one scheduling cycle, and the binding cycles that it begins.
func (e *Engine) attempt(ctx context.Context) {
	e.Scheduler.ScheduleOne(ctx)
	e.finishBindings()
}

// mostRetries is how many attempts without progress show that a pod stays pending.
const mostRetries = 3

// queued reports whether a pod in the active queue is worth an attempt.
func (e *Engine) queued() bool {
	if e.knownQueued > 0 {
		return true
	}
	pods := e.Scheduler.SchedulingQueue.PodsInActiveQ()
	for _, pod := range pods {
		if !e.retriesWithoutProgress(pod) {
			e.knownQueued = len(pods)
			if e.groups != nil {
				e.knownQueued = 1 // with it, others of its group may be taken
			}
			return true
		}
	}
	return false
}

// retriesWithoutProgress reports whether further attempts for a pod would change nothing.
func (e *Engine) retriesWithoutProgress(pod *v1.Pod) bool {
	t := e.tries[pod.UID]
	return t.since == e.progress && t.n >= mostRetries
}

// tried counts an attempt for a pod.
func (e *Engine) tried(pod *v1.Pod) {
	t := e.tries[pod.UID]
	if t.since != e.progress {
		t = tries{since: e.progress}
	}
	t.n++
	e.tries[pod.UID] = t
}

// later goes on to the time when something happens, if it does.
func (e *Engine) later() bool {
	queue := e.Scheduler.SchedulingQueue
	if e.activate(queue.PodsInBackoffQ(), func(pod *v1.Pod) bool { return !e.retriesWithoutProgress(pod) }) {
		return true
	}
	if e.timeOut() {
		return true
	}
	// The scheduler itself tries all pods again after minutes. That matters to those for which
	// room was to be made.
	return e.activate(queue.UnschedulablePods(), func(pod *v1.Pod) bool {
		return pod.Status.NominatedNodeName != "" && e.tries[pod.UID].since != e.progress
	})
}

// backoff is how long kube-scheduler waits at most before it tries a pod again, by default.
const backoff = 10 * time.Second

// activate has pods tried again.
func (e *Engine) activate(pods []*v1.Pod, which func(*v1.Pod) bool) (any bool) {
	for _, pod := range pods {
		if which(pod) {
			any = true
			e.Scheduler.SchedulingQueue.Activate(quiet, map[string]*v1.Pod{cluster.NameOf(pod).String(): pod})
		}
	}
	if any {
		e.clock.Step(backoff)
	}
	return any
}

// quiet is a log that is dropped: what a scheduler would log, the outcome tells.
var quiet = klog.New(nil)

// failureHandler takes note of why a pod was not scheduled.
func (e *Engine) failureHandler(next scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
	return func(ctx context.Context, of framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		e.mu.Lock()
		o := e.outcome(cluster.NameOf(pod.Pod))
		o.Attempts++
		o.State, o.Message = Failed, status.Message()
		if status.IsRejected() {
			o.State = Unschedulable
		}
		e.tried(pod.Pod)
		e.mu.Unlock()
		next(ctx, of, pod, status, nominating, start)
		if e.OnAttempt != nil {
			e.OnAttempt(cluster.NameOf(pod.Pod))
		}
	}
}
