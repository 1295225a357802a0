// Package scheduling runs kube-scheduler over a cluster in memory, one attempt after the other on the caller's goroutine, and
// keeps their outcomes. What kube-scheduler leaves to chance depends on a seed. It knows nothing of controllers.
package scheduling

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
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

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/clock"
	"wasmkwokwizardry.io/regex-scheduling/plugin"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Options say which scheduler is run over which cluster.
type Options struct {
	Config    *kubescheduler.Configuration
	Plugins   frameworkruntime.Registry // further ones, by name. It may be nil
	Transport http.RoundTripper         // fetches guests. Nil is http.DefaultTransport
	Seed      uint64
	Recorder  *recorder.Recorder      // gets every attempt. It may be nil
	PodGroups bool                    // the recorder says how much of a PodGroup fits
	Shown     func(url string) string // the name of an extender, by its URL. It may be nil
	ReadAll   bool                    // a pod that is tried without its regex, since nothing reads it, is an [UnreadError]

	Cluster *cluster.Cluster
	Clock   *clock.Clock
	// SyncBudgets has the budgets be counted, before a preemption.
	SyncBudgets func(context.Context) error
}

// Scheduler is kube-scheduler over a cluster. Use it from one goroutine.
type Scheduler struct {
	Kube     *scheduler.Scheduler
	Attempts *Attempts
	// NoPreemption switches preemption off.
	NoPreemption bool
	// Trial is set while pods are tried that are not as they are in the cluster: they count neither as ignored nor as read.
	Trial bool
	// OnAttempt, if set, is called when an attempt has ended.
	OnAttempt func(pod types.NamespacedName)

	options     Options
	close       func()
	bindings    *bindings
	seeded      *seeded
	verdicts    knownVerdicts
	nodes       nodeVerdicts
	spreading   *spreading
	unanswered  unanswered
	policies    map[string][]regex.Policy // by which annotations are read, by profile
	otherReader map[string]bool           // profiles with plugins or extenders of which it is not known what they read
	read        sets.Set[string]          // pods with a regex that is read
	ignored     sets.Set[string]          // pods whose regex nothing reads
	knownQueued atomic.Int32              // at least this many pods are in the active queue
	podsGone    atomic.Bool               // since ScheduleAll was last called
}

// quiet is a log that is dropped: what a scheduler would log, outcomes tell.
var quiet = klog.New(nil)

// New makes a scheduler. It sees what is in the cluster when that starts. Errors are the ones of [kubescheduler.New].
func New(ctx context.Context, o Options) (*Scheduler, error) {
	s := &Scheduler{Attempts: newAttempts(), options: o, bindings: newBindings(), read: sets.Set[string]{}, ignored: sets.Set[string]{}}
	ctx = klog.NewContext(ctx, quiet)
	client, err := dynamic.NewForConfig(o.Cluster.Config)
	if err != nil {
		return nil, err
	}
	gates := map[string]bool{string(features.SchedulerAsyncPreemption): false} // which would go on beside an attempt
	s.Kube, s.close, err = kubescheduler.New(ctx, kubescheduler.Options{Config: o.Config, Transport: o.Transport, Plugins: o.Plugins, Gates: gates}, kubescheduler.API{
		Client: o.Cluster.Client, Config: o.Cluster.Config, Informers: o.Cluster.Scheduling,
		Dynamic: dynamicinformer.NewDynamicSharedInformerFactory(client, 0),
		Events:  func(string) minor.EventRecorder { return eventRecorder{s} }, Clock: o.Clock, Parallelism: 1,
	})
	if err != nil {
		return nil, err
	}
	err = errors.Join(s.wrap(), s.listen())
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the scheduler.
func (s *Scheduler) Close() {
	s.bindings.close()
	s.close()
}

// wrap puts this package around the scheduler's functions and frameworks, and the recorder inside.
func (s *Scheduler) wrap() (err error) {
	shown := s.options.Shown
	if shown == nil {
		shown = printable.URL
	}
	extenders := hooks.Extenders(s.Kube)
	for i, extender := range extenders {
		name := shown(extender.Name())
		if extender.IsBinder() {
			s.options.Cluster.Unmodelled("bind by extender " + name + " (the copy binds)")
		}
		extenders[i] = &watchedExtender{extender, name, &s.unanswered}
	}
	if s.options.Recorder != nil {
		s.options.Recorder.Attach(s.Kube, shown)
	}
	s.verdicts.profiles = profilesWithOnly(s.Kube, inTree.Union(sets.New(plugin.Name)))
	s.findReaders()
	s.seeded, err = newSeeded(s.options.Seed, s.Kube)
	s.spreading = newSpreading(s.options.Cluster)
	for name, of := range s.Kube.Profiles {
		err = errors.Join(err, s.seedPreemption(of))
		if !s.options.PodGroups { // nodes get a generation back that they had with other pods
			err = errors.Join(err, s.spreading.attach(of))
		}
		s.Kube.Profiles[name] = hooks.AroundRankNodes(&profile{of, s}, s.seeded.rank)
	}
	s.Kube.SchedulePod = s.schedulePod(s.Kube.SchedulePod)
	s.Kube.FailureHandler = s.failureHandler(s.Kube.FailureHandler)
	return err
}

// listen forgets the attempts for a pod when another one of its name is created.
func (s *Scheduler) listen() error {
	_, err := s.options.Cluster.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(pod any) { s.Attempts.forget(pod.(*v1.Pod)) },
		UpdateFunc: func(_, pod any) {
			if pod.(*v1.Pod).Status.NominatedNodeName != "" {
				s.nodes.nominated.Store(true)
			}
			if podutil.IsPodTerminal(pod.(*v1.Pod)) { // it is gone for the scheduler
				s.knownQueued.Store(0)
				s.podsGone.Store(true)
			}
		},
		DeleteFunc: func(any) {
			s.knownQueued.Store(0)
			s.podsGone.Store(true)
		},
	})
	return err
}

// ScheduleAll makes attempts until further ones would change nothing, unless something else changes the cluster.
func (s *Scheduler) ScheduleAll(ctx context.Context) (err error) {
	defer kubescheduler.Recover(ctx, &err)
	ctx = klog.NewContext(ctx, quiet)
	s.Attempts.addProgress()
	if s.podsGone.Swap(false) {
		// A kubelet takes longer to end a pod than a backoff lasts, so that a pending pod is tried before the one that a controller creates
		// in place of the ended one.
		s.activateAll(s.Kube.SchedulingQueue.PodsInBackoffQ())
	}
	for s.hasQueued() || s.activate() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := s.options.Cluster.Err()
		if err != nil {
			return err
		}
		if s.knownQueued.Load() > 0 {
			s.knownQueued.Add(-1)
			s.Kube.ScheduleOne(ctx)
			s.bindings.finishPermitted()
			if s.options.ReadAll && len(s.ignored) > 0 {
				return s.unreadPods()
			}
		}
	}
	return s.options.Cluster.Err()
}

// maxTries is how many attempts without progress show that a pod stays pending.
const maxTries = 3

// hasQueued reports whether a pod in the active queue is worth an attempt.
func (s *Scheduler) hasQueued() bool {
	if s.knownQueued.Load() > 0 {
		return true
	}
	pods := s.Kube.SchedulingQueue.PodsInActiveQ()
	if !slices.ContainsFunc(pods, func(pod *v1.Pod) bool { return s.Attempts.tries(pod) < maxTries }) {
		return false
	}
	s.knownQueued.Store(int32(len(pods)))
	if s.options.PodGroups {
		s.knownQueued.Store(1) // with it, others of its group may be taken
	}
	return true
}

// MaxBackoff is how long kube-scheduler waits at most before it tries a pod again, by default.
const MaxBackoff = 10 * time.Second

// activate moves pods to the active queue, as kube-scheduler does after a time, and says whether there were any. First come pods
// in backoff, then the timeout of a pod that is not permitted, then pods that have preempted others: kube-scheduler
// tries all pods again after minutes, which helps only these.
func (s *Scheduler) activate() bool {
	queue := s.Kube.SchedulingQueue
	if s.activatePods(slices.DeleteFunc(queue.PodsInBackoffQ(), func(pod *v1.Pod) bool { return s.Attempts.tries(pod) >= maxTries })) {
		return true
	}
	if s.bindings.timeOutFirst() {
		return true
	}
	return s.activatePods(slices.DeleteFunc(queue.UnschedulablePods(), func(pod *v1.Pod) bool {
		return pod.Status.NominatedNodeName == "" || s.Attempts.tries(pod) > 0
	}))
}

// RetryAll has the next [Scheduler.ScheduleAll] try all pending pods again, as kube-scheduler does after five minutes.
func (s *Scheduler) RetryAll() { s.activateAll(s.Kube.SchedulingQueue.UnschedulablePods()) }

func (s *Scheduler) activateAll(pods []*v1.Pod) {
	for _, pod := range pods {
		s.Kube.SchedulingQueue.Activate(quiet, map[string]*v1.Pod{cluster.NameOf(pod).String(): pod})
	}
}

func (s *Scheduler) activatePods(pods []*v1.Pod) bool {
	s.activateAll(pods)
	if len(pods) > 0 {
		s.options.Clock.Step(MaxBackoff)
	}
	return len(pods) > 0
}

// schedulePod finds a node for a pod.
func (s *Scheduler) schedulePod(next hooks.SchedulePod) hooks.SchedulePod {
	return func(ctx context.Context, of framework.Framework, state fwk.CycleState, queued *hooks.Queued) (scheduler.ScheduleResult, error) {
		pod := hooks.PodOf(queued)
		if !s.Trial {
			s.noteRegex(pod)
		}
		// 1. A pod like one that is known to be unschedulable is unschedulable.
		known := s.verdicts.find(of, pod, s.Attempts.changes(), s.options.Recorder.Wants(pod))
		if known != nil {
			s.verdicts.against = known.against
			return scheduler.ScheduleResult{}, &framework.FitError{Pod: pod, NumAllNodes: known.err.NumAllNodes, Diagnosis: known.err.Diagnosis}
		}
		// 2. Others are kube-scheduler's to decide.
		result, err := next(ctx, of, state, queued)
		s.verdicts.fitError = nil
		s.verdicts.against = Against{}
		if err != nil {
			if errors.As(err, &s.verdicts.fitError) {
				s.verdicts.against = newAgainst(of, s.verdicts.fitError, s.verdicts.notNamed)
			}
			return result, err
		}
		// 3. With extenders, it does not choose by the seed.
		if len(hooks.Extenders(s.Kube)) > 0 {
			result.SuggestedHost = s.seeded.choose(result.SuggestedHost)
		}
		s.Attempts.foundFeasible(pod, result.FeasibleNodes, s.Sampled(of, result))
		return result, nil
	}
}

// fewestFeasible is how many feasible nodes kube-scheduler looks for at least (minFeasibleNodesToFind), if it scores nodes.
const fewestFeasible = 100

// Sampled says whether more nodes may be feasible than a result has: kube-scheduler stops looking when it has found as many as it scores.
func (s *Scheduler) Sampled(of framework.Framework, result scheduler.ScheduleResult) bool {
	nodes, err := of.SnapshotSharedLister().NodeInfos().List()
	if err != nil || result.EvaluatedNodes >= len(nodes) {
		return false
	}
	// An extender may have rejected some of the nodes that were found.
	return result.FeasibleNodes >= fewestFeasible || len(hooks.Extenders(s.Kube)) > 0 || !of.HasScorePlugins()
}

// failureHandler keeps why a pod was not scheduled.
func (s *Scheduler) failureHandler(next scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
	return func(ctx context.Context, of framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		against := Against{}
		if errors.As(status.AsError(), new(*framework.FitError)) { // or else its binding failed
			against = s.verdicts.against
		}
		s.Attempts.failed(pod.Pod, status, against)
		if nominating != nil && nominating.NominatedNodeName != "" {
			s.nodes.nominated.Store(true)
		}
		next(ctx, of, pod, status, nominating, start)
		s.ended(pod.Pod)
	}
}

func (s *Scheduler) ended(pod *v1.Pod) {
	if s.OnAttempt != nil {
		s.OnAttempt(cluster.NameOf(pod))
	}
}

// unreadPods has pods that were tried, and pending pods.
func (s *Scheduler) unreadPods() *UnreadError {
	all := s.ignored.Clone()
	var pods []*v1.Pod
	for _, pod := range cluster.All[*v1.Pod](s.options.Cluster) {
		waits := pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && len(pod.Spec.SchedulingGates) == 0 && !podutil.IsPodTerminal(pod)
		if waits && s.isUnread(pod) {
			all.Insert(cluster.NameOf(pod).String())
		}
		if all.Has(cluster.NameOf(pod).String()) {
			pods = append(pods, pod)
		}
	}
	return &UnreadError{sets.List(all), s.Keys(pods)}
}
