package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	schedprofile "k8s.io/kubernetes/pkg/scheduler/profile"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// plugin implements every extension point, at next to no cost.
type plugin struct {
	minor.PreFlight
	*queuesort.PrioritySort
	number int
	says   map[point]*framework.Status // instead of its own
}

func (p plugin) Name() string { return fmt.Sprint("Plugin", p.number) }

func (p plugin) PreFilter(context.Context, framework.CycleState, *v1.Pod, []framework.NodeInfo) (*framework.PreFilterResult, *framework.Status) {
	return nil, p.at(preFilter)
}

// at is the status for a pod. Half of them skip where they may.
func (p plugin) at(at point) *framework.Status {
	if status, ok := p.says[at]; ok {
		return framework.NewStatus(status.Code(), status.Reasons()...)
	}
	if p.number%2 == 1 && (at == preFilter || at == preScore || at == preBind) {
		return framework.NewStatus(framework.Skip)
	}
	return nil
}

func (plugin) PreFilterExtensions() framework.PreFilterExtensions { return nil }

var rejected = framework.NewStatus(framework.Unschedulable, "node(s) didn't match the pod's node name regex")

// Filter rejects every other node, if it is the one to do so.
func (p plugin) Filter(_ context.Context, _ framework.CycleState, _ *v1.Pod, node framework.NodeInfo) *framework.Status {
	name := node.Node().Name
	if p.number == 4 && name[len(name)-1]%2 == 1 {
		return framework.NewStatus(rejected.Code(), rejected.Message())
	}
	return nil
}

func (p plugin) PreScore(context.Context, framework.CycleState, *v1.Pod, []framework.NodeInfo) *framework.Status {
	return p.at(preScore)
}

// Score differs from node to node for two of the plugins that score.
func (p plugin) Score(_ context.Context, _ framework.CycleState, _ *v1.Pod, node framework.NodeInfo) (int64, *framework.Status) {
	if p.number > 2 {
		return 50, nil
	}
	name := node.Node().Name
	return int64(name[len(name)-1]-'0') * 10, nil
}

func (p plugin) ScoreExtensions() framework.ScoreExtensions { return p }

func (plugin) NormalizeScore(_ context.Context, _ framework.CycleState, _ *v1.Pod, scores framework.NodeScoreList) *framework.Status {
	for i := range scores {
		scores[i].Score = 100 - scores[i].Score
	}
	return nil
}

func (p plugin) Reserve(context.Context, framework.CycleState, *v1.Pod, string) *framework.Status {
	return p.at(reserve)
}
func (plugin) Unreserve(context.Context, framework.CycleState, *v1.Pod, string) {}

func (p plugin) Permit(context.Context, framework.CycleState, *v1.Pod, string) (*framework.Status, time.Duration) {
	return p.at(permit), time.Minute
}

// preFlight is Skip if PreBind is.
func (p plugin) preFlight(framework.CycleState, *v1.Pod) *framework.Status {
	status := p.at(preBind)
	if status.IsSkip() {
		return status
	}
	return nil
}

func (p plugin) PreBind(context.Context, framework.CycleState, *v1.Pod, string) *framework.Status {
	return p.at(preBind)
}

func (p plugin) Bind(context.Context, framework.CycleState, *v1.Pod, string) *framework.Status {
	return p.at(bind)
}

// goroutines is how many kube-scheduler filters with.
const goroutines = 16

// plugins are about as many as kube-scheduler has.
const plugins = 12

// newRealFramework is kube-scheduler's own, with those plugins: the first few as
// they are given, the others as they come.
func newRealFramework(tb testing.TB, nodes int, first ...plugin) schedframework.Framework {
	tb.Helper()
	metrics.Register()
	registry := frameworkruntime.Registry{}
	enabled := &config.Plugins{}
	for i := range plugins {
		p := plugin{number: i}
		if i < len(first) {
			p.says = first[i].says
		}
		p.Status = p.preFlight
		registry[p.Name()] = func(context.Context, apiruntime.Object, framework.Handle) (framework.Plugin, error) { return p, nil }
		one := config.Plugin{Name: p.Name(), Weight: 1}
		for _, point := range []*config.PluginSet{&enabled.PreFilter, &enabled.Filter, &enabled.PreScore, &enabled.Score, &enabled.Reserve, &enabled.Permit, &enabled.PreBind, &enabled.Bind} {
			point.Enabled = append(point.Enabled, one)
		}
	}
	enabled.QueueSort.Enabled = []config.Plugin{{Name: plugin{}.Name()}}
	list := make([]*v1.Node, nodes)
	for i := range list {
		list[i] = &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%05d", i)}}
	}
	fwk, err := frameworkruntime.NewFramework(tb.Context(), registry,
		&config.KubeSchedulerProfile{SchedulerName: "default-scheduler", Plugins: enabled},
		frameworkruntime.WithSnapshotSharedLister(internalcache.NewSnapshot(nil, list)),
		frameworkruntime.WithEventRecorder(&events.FakeRecorder{}),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodNominator(hooks.NoNominator{}))
	testkit.Must(tb, err)
	return fwk
}

// choose is how the scheduler finds a node, with all its plugins.
func choose(ctx context.Context, fwk schedframework.Framework, state framework.CycleState, queued *hooks.Queued) (scheduler.ScheduleResult, error) {
	pod := hooks.PodOf(queued)
	_, status, _ := fwk.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		return scheduler.ScheduleResult{}, status.AsError()
	}
	nodes, err := fwk.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return scheduler.ScheduleResult{}, err
	}
	fits := make([]bool, len(nodes))
	var running sync.WaitGroup
	for from := range goroutines {
		running.Go(func() {
			for i := from; i < len(nodes); i += goroutines {
				fits[i] = fwk.RunFilterPluginsWithNominatedPods(ctx, state, pod, nodes[i]).IsSuccess()
			}
		})
	}
	running.Wait()
	var feasible []framework.NodeInfo
	for i, node := range nodes {
		if fits[i] {
			feasible = append(feasible, node)
		}
	}
	status = fwk.RunPreScorePlugins(ctx, state, pod, feasible)
	scores, failed := fwk.RunScorePlugins(ctx, state, pod, feasible)
	status = cmp.Or(status, failed)
	if !status.IsSuccess() {
		return scheduler.ScheduleResult{}, status.AsError()
	}
	return scheduler.ScheduleResult{SuggestedHost: scores[0].Name}, nil
}

// place does all that the scheduler does with a pod for which there is a node.
func place(ctx context.Context, sched *scheduler.Scheduler, pod *v1.Pod) error {
	fwk := sched.Profiles["default-scheduler"]
	state := schedframework.NewCycleState()
	result, err := sched.SchedulePod(ctx, fwk, state, hooks.Enqueue(pod))
	if err != nil {
		return err
	}
	node := result.SuggestedHost
	permitted := func(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) *framework.Status {
		status := hooks.Permit(ctx, fwk, state, pod, node)
		if !status.IsWait() {
			return status
		}
		return nil
	}
	checked := func(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) *framework.Status {
		fwk.RunPreBindPreFlights(ctx, state, pod, node)
		return nil
	}
	for _, run := range []func(context.Context, framework.CycleState, *v1.Pod, string) *framework.Status{
		fwk.RunReservePluginsReserve, permitted, checked, fwk.RunPreBindPlugins, fwk.RunBindPlugins,
	} {
		status := run(ctx, state, pod, node)
		if !status.IsSuccess() {
			return status.AsError()
		}
	}
	fwk.RunPostBindPlugins(ctx, state, pod, node)
	return nil
}

func newRealScheduler(tb testing.TB, nodes int, first ...plugin) *scheduler.Scheduler {
	return &scheduler.Scheduler{
		Profiles:    schedprofile.Map{"default-scheduler": newRealFramework(tb, nodes, first...)},
		SchedulePod: choose,
		FailureHandler: func(context.Context, schedframework.Framework, *schedframework.QueuedPodInfo, *framework.Status, *framework.NominatingInfo, time.Time) {
		},
	}
}

// one does what the scheduler does with a pod for which there is no node, or an error.
func one(ctx context.Context, sched *scheduler.Scheduler, pod *v1.Pod) {
	fwk := sched.Profiles["default-scheduler"]
	_, err := sched.SchedulePod(ctx, fwk, schedframework.NewCycleState(), hooks.Enqueue(pod))
	queued := &schedframework.QueuedPodInfo{PodInfo: &schedframework.PodInfo{Pod: pod}}
	sched.FailureHandler(ctx, fwk, queued, framework.AsStatus(cmp.Or(err, errors.New("no node fits"))), nil, time.Now())
}

func newPod(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}}
}
