//go:build !kubernetes_1_35

// Since Kubernetes 1.36 a pod is signed when it is queued.

package wasmhost

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// A batch is pods that are queued for one scheduler together, and are looked at in their order.
type batch struct {
	guest string // the file of it
	nodes []string
	room  string // how many pods a node has room for
	pods  []*v1.Pod
}

// place has a scheduler place the pods, and returns their nodes, and how many hints there
// were that were used and that were not.
func (b batch) place(t *testing.T) (nodes []string, used, unused int) {
	t.Helper()
	var objects []runtime.Object
	for _, name := range b.nodes {
		objects = append(objects, withRoom(name, b.room))
	}
	for i, p := range b.pods {
		p = p.DeepCopy()
		p.Namespace, p.Spec.SchedulerName, p.Spec.Priority = v1.NamespaceDefault, t.Name(), ptr.To(int32(-i))
		objects = append(objects, p)
	}
	client := fake.NewClientset(objects...)
	h := New(Options{})
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sched := b.scheduler(t, ctx, h, client)
	choose := sched.SchedulePod
	sched.SchedulePod = func(ctx context.Context, profile framework.Framework, state fwk.CycleState, queued *hooks.Queued) (scheduler.ScheduleResult, error) {
		result, err := choose(ctx, profile, state, queued)
		if err != nil {
			t.Errorf("pod %s: %v", hooks.PodOf(queued).Name, err)
		}
		nodes = append(nodes, result.SuggestedHost)
		return result, err
	}
	metrics.BatchAttemptStats.Reset()
	for range b.pods {
		sched.ScheduleOne(ctx)
	}
	return nodes, attempts(t, metrics.BatchAttemptHintUsed), attempts(t, metrics.BatchAttemptHintNotUsed)
}

func withRoom(name, pods string) *v1.Node {
	room := v1.ResourceList{v1.ResourcePods: resource.MustParse(pods)}
	n := nodesNamed(name)[0]
	n.Status = v1.NodeStatus{Allocatable: room, Capacity: room}
	return n
}

func attempts(t *testing.T, with string) int {
	t.Helper()
	n, err := testutil.GetCounterMetricValue(metrics.BatchAttemptStats.WithLabelValues(t.Name(), with))
	testkit.Must(t, err)
	return int(n)
}

// scheduler makes one in whose queue are the pods. NodeResourcesFit scores, too: a scheduler
// without scores takes the first node that it finds, and keeps no list.
func (b batch) scheduler(t *testing.T, ctx context.Context, h *Host, client *fake.Clientset) *scheduler.Scheduler {
	t.Helper()
	of := func(name string) config.PluginSet {
		return config.PluginSet{Enabled: []config.Plugin{{Name: name, Weight: 1}}}
	}
	args := fmt.Sprintf(`{"guestURL": "file://%s"}`, b.guest)
	informers := informers.NewSharedInformerFactory(client, 0)
	sched, err := scheduler.New(ctx, client, informers, nil, profile.NewRecorderFactory(events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{"Wasm": h.PluginFactory("Wasm")}),
		scheduler.WithProfiles(config.KubeSchedulerProfile{
			SchedulerName: t.Name(),
			Plugins: &config.Plugins{
				MultiPoint: of("Wasm"), QueueSort: of(names.PrioritySort), Bind: of(defaultbinder.Name),
				PreFilter: of(names.NodeResourcesFit), Filter: of(names.NodeResourcesFit), Score: of(names.NodeResourcesFit),
			},
			PluginConfig: []config.PluginConfig{
				{Name: "Wasm", Args: &runtime.Unknown{Raw: []byte(args)}},
				{Name: names.NodeResourcesFit, Args: &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
					Type: config.LeastAllocated, Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}},
				}}},
			},
		}))
	testkit.Must(t, err)
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	testkit.Must(t, sched.WaitForHandlersSync(ctx))
	queued, summary := sched.SchedulingQueue.PendingPods()
	if len(queued) != len(b.pods) {
		t.Fatalf("%d pods are queued, of %d: %s", len(queued), len(b.pods), summary)
	}
	return sched
}

// A scheduler keeps its list for half a second only, so a busy machine may need more than
// one try until it gives a hint; where pods are placed must be right in each.
func (b batch) placeUntil(t *testing.T, what string, right func(nodes []string), enough func(used, unused int) bool) {
	t.Helper()
	eventually.Succeeds(t, what, func(context.Context) error {
		nodes, used, unused := b.place(t)
		right(nodes)
		if t.Failed() || enough(used, unused) {
			return nil
		}
		return fmt.Errorf("%d hints were used and %d were not; the nodes are %v", used, unused, nodes)
	})
}

// The guest would have pods with a mark run on other nodes, but does not see the mark: what it
// says of the first pod is right for all.
func TestPodsThatDifferInWhatIsNotDeclaredAreBatched(t *testing.T) {
	b := batch{
		guest: guests + "decides_by_mark.wasm",
		nodes: []string{"n1", "n2", "n3", "n4", "m1", "m2"}, room: "1",
		pods: []*v1.Pod{about("a", "x"), about("b", "x"), about("c!", "x"), about("d!", "x")},
	}
	b.placeUntil(t, "the pods are hinted at nodes", func(nodes []string) {
		for i, node := range nodes {
			if node == "" || node[0] != 'n' {
				t.Errorf("pod %s is on node %q; all are on %v", b.pods[i].Name, node, nodes)
			}
		}
	}, func(used, _ int) bool { return used > 0 })
}
