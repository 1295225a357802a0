package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	feature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/private"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/scheduling"
)

const unmodified = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

func read(t testing.TB, text string) *snapshot.Snapshot {
	t.Helper()
	s, _, err := snapshot.Read(strings.NewReader(text))
	testkit.Must(t, err)
	return s
}

// over makes an engine over a cluster.
func over(t testing.TB, s *snapshot.Snapshot, change func(*Options)) *Engine {
	t.Helper()
	o := Options{Cluster: s, Seed: 1}
	var err error
	if o.Config, err = kubescheduler.Read([]byte(unmodified)); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&o)
	}
	e, err := New(t.Context(), o)
	testkit.Must(t, err)
	t.Cleanup(e.Close)
	return e
}

// ofEachMinor takes out what only some minors say.
var ofEachMinor = strings.NewReplacer("no new claims to deallocate, ", "", "still not schedulable, ", "")

// outcomes are the outcomes of all pods, a line each.
func outcomes(t testing.TB, e *Engine) string {
	t.Helper()
	testkit.Must(t, e.Run(t.Context()))
	names := map[types.NamespacedName]bool{}
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		names[cluster.NameOf(pod)] = true
		for _, preempted := range e.Outcome(cluster.NameOf(pod)).Preempted {
			names[preempted] = true
		}
	}
	var lines []string
	for name := range names {
		o := e.Outcome(name)
		line := fmt.Sprintf("%s: %s %s%s", name.Name, o.State, o.Node, ofEachMinor.Replace(o.Message))
		if o.State == Preempted {
			line += "by " + o.PreemptedBy.Name
		}
		lines = append(lines, line)
	}
	return sorted(lines)
}

func node(name, cpu string) string {
	return fmt.Sprintf(`- metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, topology.kubernetes.io/zone: zone-%[1]s}}
  status: {allocatable: {cpu: "%s", memory: 8Gi, pods: "10"}, capacity: {cpu: "%[2]s", memory: 8Gi, pods: "10"}}
`, name, cpu)
}

func pod(name, on, cpu, more string) string {
	return fmt.Sprintf(`- metadata: {name: %s, namespace: default, labels: {app: a}}
  spec: {nodeName: %q, %s containers: [{name: c, image: c, resources: {requests: {cpu: "%s"}}}]}
`, name, on, more, cpu)
}

// With volumes and devices: whatif/testdata/scenarios.
func TestOutcomesOfPods(t *testing.T) {
	const classes = "priorityClasses:\n- {metadata: {name: high}, value: 1000}\n"
	for name, tt := range map[string]struct{ cluster, want string }{
		"one fits and one does not": {
			"nodes:\n" + node("n1", "2") + "pods:\n" + pod("a", "", "1", "") + pod("b", "", "3", ""),
			"a: Scheduled n1\nb: Unschedulable 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
		},
		"one runs": {"nodes:\n" + node("n1", "2") + "pods:\n" + pod("a", "n1", "1", ""), "a: Stayed n1"},
		"one is preempted, and its preemptor gets the room": {
			classes + "nodes:\n" + node("n1", "2") + "pods:\n" + pod("a", "n1", "2", "") + pod("b", "", "2", "priorityClassName: high, "),
			"a: Preempted by b\nb: Scheduled n1",
		},
		"one has gates":              {"nodes:\n" + node("n1", "2") + "pods:\n" + pod("a", "", "1", "schedulingGates: [{name: g}], "), "a: NotAsked it has scheduling gates"},
		"one is another scheduler's": {"nodes:\n" + node("n1", "2") + "pods:\n" + pod("a", "", "1", "schedulerName: other, "), "a: NotAsked no profile is called other: what its own scheduler does is not known"},
		"there is no node":           {"pods:\n" + pod("a", "", "1", ""), "a: Unschedulable no nodes available to schedule pods"},
	} {
		t.Run(name, func(t *testing.T) {
			e := over(t, read(t, tt.cluster), nil)
			got := outcomes(t, e)
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			unmodelled := e.Cluster.NotModelled()
			if len(unmodelled) > 0 {
				t.Errorf("not modelled: %v", unmodelled)
			}
		})
	}
}

func TestVolumeIsMadeWhereThePodIs(t *testing.T) {
	e := over(t, read(t, `storageClasses: [{metadata: {name: late}, provisioner: example.com/disks, volumeBindingMode: WaitForFirstConsumer}]
pvcs: [{metadata: {name: data, namespace: default}, spec: {accessModes: [ReadWriteOnce], storageClassName: late, resources: {requests: {storage: 1Gi}}}}]
nodes:
`+node("n1", "1")+node("m1", "4")+"pods:\n"+pod("a", "", "2", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], ")), nil)
	outcomes(t, e)
	claim := cluster.Get[*v1.PersistentVolumeClaim](e.Cluster, "default", "data")
	volume := cluster.Get[*v1.PersistentVolume](e.Cluster, "", claim.Spec.VolumeName)
	if claim.Status.Phase != v1.ClaimBound || volume == nil || volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0] != "zone-m1" {
		t.Errorf("claim %+v, volume %+v", claim, volume)
	}
}

func made(t testing.TB, nodes, pods int, pending bool) *snapshot.Snapshot {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "awk", "-f", "../../../examples/cluster/cluster.awk", "-v", fmt.Sprint("nodes=", nodes), "-v", fmt.Sprint("pods=", pods)).Output()
	testkit.Must(t, err)
	s, _, err := snapshot.Read(bytes.NewReader(out))
	testkit.Must(t, err)
	for i := range s.Pods {
		if pending {
			s.Pods[i].Spec.NodeName, s.Pods[i].Status = "", v1.PodStatus{}
		}
	}
	return s
}

// TestSameGivesTheSame: also where PreFilter names nodes, as the native plugin does.
func TestSameGivesTheSame(t *testing.T) {
	native := func(o *Options) {
		o.Config, _ = kubescheduler.Read([]byte(unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: RegexScheduling}]}}}]\n"))
	}
	for name, change := range map[string]func(*Options){"unmodified": nil, "native": native} {
		var before string
		for range 3 {
			now := outcomes(t, over(t, made(t, 300, 600, true), change))
			if before != "" && now != before {
				t.Errorf("%s: not the same", name)
			}
			before = now
		}
	}
}

func TestAnotherSeedIsAnotherChoice(t *testing.T) {
	first := outcomes(t, over(t, made(t, 30, 90, true), nil))
	second := outcomes(t, over(t, made(t, 30, 90, true), func(o *Options) { o.Seed = 2 }))
	if first == second || strings.Count(first, scheduling.Scheduled) != strings.Count(second, scheduling.Scheduled) {
		t.Errorf("%s\n\n%s", first, second)
	}
}

// TestPreemptionAmongEqualNodesDependsOnTheSeedAlone: also of pods of which nothing says when they began.
func TestPreemptionAmongEqualNodesDependsOnTheSeedAlone(t *testing.T) {
	t.Run("pods of the file", func(t *testing.T) {
		testSeedOfPreemption(t, "", func(i int) string { return fmt.Sprint("n", i) })
	})
	t.Run("pods that get a node with a silent kubelet", func(t *testing.T) {
		testSeedOfPreemption(t, "conditions: [{type: Ready, status: Unknown}], ", func(int) string { return "" })
	})
}

func testSeedOfPreemption(t *testing.T, status string, on func(i int) string) {
	const tolerates = "tolerations: [{operator: Exists}], "
	text := "priorityClasses:\n- {metadata: {name: high}, value: 1000}\nnodes:\n"
	for i := range 120 { // of which kube-scheduler looks at 100
		text += strings.Replace(node(fmt.Sprint("n", i), "2"), "status: {", "status: {"+status, 1)
	}
	text += "pods:\n"
	for i := range 120 {
		text += pod(fmt.Sprint("p", i), on(i), "2", tolerates)
	}
	urgent := read(t, "pods:\n"+pod("urgent", "", "2", tolerates+"priorityClassName: high, ")).Pods[0]
	chosen := map[string]bool{}
	for seed := range uint64(4) {
		first := ""
		for range 3 {
			e := over(t, read(t, text), func(o *Options) { o.Seed = seed })
			outcomes(t, e)
			_, err := e.Cluster.Create(t.Context(), urgent.DeepCopy())
			testkit.Must(t, err)
			outcomes(t, e)
			now := fmt.Sprint(e.Outcome(cluster.NameOf(&urgent)).Preempted)
			if now == "[]" || first != "" && now != first {
				t.Errorf("seed %d: %s is preempted, and before %s", seed, now, first)
			}
			first = now
		}
		chosen[first] = true
	}
	if len(chosen) < 2 {
		t.Error("the seed makes no difference")
	}
}

// TestUndoneIsAsBefore: what is scheduled after a rollback is what is scheduled without a try.
func TestUndoneIsAsBefore(t *testing.T) {
	e := over(t, made(t, 60, 300, false), nil)
	before := outcomes(t, e)
	for range 2 {
		rollback, _ := e.Try()
		var moved []*v1.Pod
		for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
			if strings.HasSuffix(pod.Spec.NodeName, "1") {
				moved = append(moved, pod)
			}
		}
		for _, pod := range moved {
			e.Cluster.Delete(pod)
			again := pod.DeepCopy()
			again.Spec.NodeName, again.Status, again.UID, again.ResourceVersion = "", v1.PodStatus{}, "", ""
			if _, err := e.Cluster.Create(t.Context(), again); err != nil {
				t.Fatal(err)
			}
		}
		during := outcomes(t, e)
		if during == before || len(moved) == 0 {
			t.Errorf("nothing has moved of %d", len(moved))
		}
		rollback()
		after := outcomes(t, e)
		if after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
		if err := e.sameAsScheduler(); err != nil {
			t.Error(err)
		}
	}
}

// sameAsScheduler compares the scheduler's cache with the cluster.
func (e *Engine) sameAsScheduler() error {
	dump := e.Scheduler.Kube.Cache.Dump()
	cached := 0
	for name, node := range dump.Nodes {
		cached += len(node.Pods)
		if cluster.Get[*v1.Node](e.Cluster, "", name) == nil {
			return fmt.Errorf("the scheduler still has node %s", name)
		}
	}
	placed := 0
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if pod.Spec.NodeName != "" {
			placed++
		}
	}
	if cached != placed || len(dump.AssumedPods) > 0 {
		return fmt.Errorf("the scheduler has %d pods on nodes, and assumes %d; there are %d", cached, len(dump.AssumedPods), placed)
	}
	return nil
}

func TestBudgetIsCountedForTheNextPreemption(t *testing.T) {
	e := over(t, read(t, `priorityClasses: [{metadata: {name: high}, value: 1000}]
podDisruptionBudgets: [{metadata: {name: b, namespace: default}, spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}}]
nodes:
`+node("n1", "2")+node("m1", "2")+"pods:\n"+pod("a", "n1", "2", "")+pod("b", "m1", "2", "")), nil)
	outcomes(t, e)
	testkit.Must(t, e.Cluster.Evict("default", "a"))
	err := e.Cluster.Client.PolicyV1().Evictions("default").Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "default"}})
	if err == nil || !strings.Contains(err.Error(), "violate the pod's disruption budget") {
		t.Error(err)
	}
}

func TestBrokenClusterIsRefusedInALine(t *testing.T) {
	twice := read(t, "nodes:\n"+node("n1", "1"))
	twice.Nodes = append(twice.Nodes, twice.Nodes[0]) // of a file, one of them is read
	for want, cluster := range map[string]*snapshot.Snapshot{
		"node n1: there are two of this name":                  twice,
		`pod default/a: Pod "a" is invalid: spec.containers[0`: read(t, "pods:\n"+pod("a", "", "-1", "")),
		"pod default/a: ": read(t, "pods:\n"+pod("a", "", "1", "priorityClassName: system-none, ")),
	} {
		config, _ := kubescheduler.Read([]byte(unmodified))
		_, err := New(t.Context(), Options{Config: config, Cluster: cluster})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestMovesSayWhatAStatefulSetWaitsFor: also where there are more than ten pods.
func TestMovesSayWhatAStatefulSetWaitsFor(t *testing.T) {
	text := "statefulSets:\n- {metadata: {name: db, namespace: default, uid: db}, spec: {serviceName: db, replicas: 13, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: c}]}}}}\n" +
		"nodes:\n" + strings.ReplaceAll(node("n1", "13"), `"10"`, `"20"`) + "pods:\n"
	for at := range 13 {
		text += strings.Replace(pod(fmt.Sprint("db-", at), "n1", "1", ""), "labels: {app: a}", "labels: {app: a}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: db, controller: true}]", 1)
	}
	e := over(t, read(t, text), func(o *Options) { o.Workloads = Workloads })
	outcomes(t, e)
	before := e.Pods()
	cordon := func(is bool) {
		node := cluster.Get[*v1.Node](e.Cluster, "", "n1").DeepCopy()
		node.Spec.Unschedulable = is
		testkit.Must(t, e.Cluster.Update(node))
	}
	cordon(true)
	var gone []*v1.Pod
	for _, pod := range before.Placed {
		if pod.Name == "db-2" || pod.Name == "db-10" {
			gone = append(gone, pod)
			e.Cluster.Delete(pod)
		}
	}
	outcomes(t, e)
	got := e.Moves(before, gone)[0].Reason
	if got != "its StatefulSet does not make it before db-2 is ready" {
		t.Error(got)
	}
	cordon(false)
	got = outcomes(t, e)
	if strings.Count(got, "db-10: Scheduled n1") != 1 || strings.Count(got, "Scheduled") != 2 {
		t.Error(got)
	}
}

// bad is a plugin that does what it should not.
type bad struct {
	handle fwk.Handle
	how    string
}

func (bad) Name() string { return "Bad" }

func (b bad) Filter(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.NodeInfo) *fwk.Status {
	if b.how == "asks for what is not there" {
		_, err := b.handle.ClientSet().CoordinationV1().Leases("default").List(ctx, metav1.ListOptions{})
		return fwk.AsStatus(err)
	}
	return nil
}

func (b bad) Permit(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.Status, time.Duration) {
	if b.how == "waits for ever" {
		return fwk.NewStatus(fwk.Wait), time.Hour
	}
	return nil, 0
}

func TestPluginThatMisbehavesCostsThePodAndNothingElse(t *testing.T) {
	for how, want := range map[string]string{
		"asks for what is not there":  "a: Error running \"Bad\" filter plugin: cannot list coordination.k8s.io/v1 leases: a cluster in memory does not serve that",
		"waits for ever":              "a: Unschedulable 0/1 nodes are available: 1 rejected: nothing made plugin Bad let it go on before its time was over.",
		"nothing that it should not ": "a: Scheduled n1",
	} {
		t.Run(how, func(t *testing.T) {
			e := over(t, read(t, "nodes:\n"+node("n1", "2")+"pods:\n"+pod("a", "", "1", "")), func(o *Options) {
				o.Config, _ = kubescheduler.Read([]byte(unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: Bad}]}}}]\n"))
				o.Plugins = frameworkruntime.Registry{"Bad": func(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
					return bad{handle, how}, nil
				}}
			})
			got := outcomes(t, e)
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			listed := strings.Join(e.Cluster.NotModelled(), "")
			if strings.HasPrefix(how, "asks") != (listed == "list coordination.k8s.io/v1 leases") {
				t.Errorf("not modelled: %q", listed)
			}
		})
	}
}

// TestDeviceThatWaitsForItsDriverKeepsItsPodPending: kube-scheduler waits 600 s for the conditions of a device.
func TestDeviceThatWaitsForItsDriverKeepsItsPodPending(t *testing.T) {
	if !feature.DefaultFeatureGate.Enabled(features.DRADeviceBindingConditions) {
		t.Skip("this minor of Kubernetes has no such conditions")
	}
	began := time.Now()
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+`
deviceClasses: [{metadata: {name: gpu}, spec: {selectors: [{cel: {expression: "true"}}]}}]
resourceSlices: [{metadata: {name: n1}, spec: {driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1},
  devices: [{name: gpu, bindsToNode: true, bindingConditions: [attached], bindingFailureConditions: [failed]}]}}]
resourceClaims: [{metadata: {name: gpu, namespace: default}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}]
pods:
`+pod("a", "", "1", "resourceClaims: [{name: gpu, resourceClaimName: gpu}], ")+pod("b", "", "1", "")), nil)
	got := outcomes(t, e)
	want := "a: Unschedulable its devices wait for their bindingConditions"
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "b: Scheduled n1") || time.Since(began) > time.Minute {
		t.Errorf("got after %s\n%s", time.Since(began), got)
	}
	if !slices.Contains(e.Cluster.NotModelled(), "fulfil the bindingConditions of devices") {
		t.Error(e.Cluster.NotModelled())
	}
}

// TestSchedulerThatIsMadeMeanwhileSeesTheGatesOfTheProcess: a live scheduler may start again while an engine is made.
func TestSchedulerThatIsMadeMeanwhileSeesTheGatesOfTheProcess(t *testing.T) {
	config, _ := kubescheduler.Read([]byte(unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: Permits}]}}}]\n"))
	made := func(do func()) frameworkruntime.Registry {
		return frameworkruntime.Registry{"Permits": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			do()
			return permits{}, nil
		}}
	}
	live := make(chan bool, 1)
	ended, isMade := make(chan error, 1), errors.New("it is made")
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	testkit.Must(t, os.WriteFile(kubeconfig, []byte("clusters: [{name: '', cluster: {server: 'http://127.0.0.1:1'}}]"), 0o600))
	over(t, read(t, "nodes:\n"+node("n1", "2")), func(o *Options) {
		o.Config = config
		o.Plugins = made(func() {
			go func() {
				ended <- kubescheduler.Run(context.Background(), kubescheduler.Options{Config: config, Kubeconfig: kubeconfig, Plugins: made(func() {
					live <- feature.DefaultFeatureGate.Enabled(features.SchedulerAsyncPreemption)
				}), Prepare: func(*scheduler.Scheduler) error { return isMade }})
			}()
			select { // or else it has to wait until this scheduler is made
			case is := <-live:
				live <- is
			case <-time.After(200 * time.Millisecond):
			}
		})
	})
	if !<-live {
		t.Error("a live scheduler has the gates of the engine")
	}
	err := <-ended
	if !errors.Is(err, isMade) {
		t.Error(err)
	}
}

// permits is a plugin that has the pod "first" wait until its time is over.
type permits struct{}

func (permits) Name() string { return "Permits" }

func (permits) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	if pod.Name == "first" {
		return fwk.NewStatus(fwk.Wait), time.Hour
	}
	return nil, 0
}

// TestPodThatIsNotPermittedFreesItsNode: the two others are alike, and one of them gets the node when its place is free again.
func TestPodThatIsNotPermittedFreesItsNode(t *testing.T) {
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+"pods:\n"+pod("first", "", "2", "")+pod("second", "", "2", "")+pod("third", "", "2", "")), func(o *Options) {
		o.Config, _ = kubescheduler.Read([]byte(unmodified + "profiles: [{plugins: {permit: {enabled: [{name: Permits}]}}}]\n"))
		o.Plugins = frameworkruntime.Registry{"Permits": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return permits{}, nil }}
	})
	got := outcomes(t, e)
	if !strings.Contains(got, "second: Scheduled n1") {
		t.Errorf("got\n%s", got)
	}
}

func TestRecorderGetsEveryAttempt(t *testing.T) {
	r := recorder.New(func() {})
	e := over(t, made(t, 30, 90, true), func(o *Options) { o.Recorder = r })
	outcomes(t, e)
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		attempts := r.Attempts(pod.Namespace, pod.Name)
		if len(attempts) == 0 || attempts[0].Total != 30 || string(attempts[0].Result) != e.Outcome(cluster.NameOf(pod)).State || attempts[0].Node != pod.Spec.NodeName {
			t.Fatalf("%s: %+v", pod.Name, attempts)
		}
	}
}

func TestEndOfTheContextEndsARun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	e := over(t, made(t, 30, 90, true), nil)
	done := 0
	e.Scheduler.OnAttempt = func(types.NamespacedName) {
		done++
		if done == 5 {
			cancel(errors.New("enough"))
		}
	}
	err := e.Run(ctx)
	if err == nil || err.Error() != "enough" || done != 5 {
		t.Errorf("%v after %d attempts", err, done)
	}
}

// A filter that never answers cannot be interrupted.
func TestEndOfTheContextEndsARunThatHangs(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+"pods:\n"+pod("a", "", "1", "")), func(o *Options) {
		o.Config, _ = kubescheduler.Read([]byte(unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: Hangs}]}}}]\n"))
		o.Plugins = frameworkruntime.Registry{"Hangs": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return hanging{func() {
				cancel(errors.New("enough"))
				<-release
			}}, nil
		}}
	})
	err := e.Run(ctx)
	if err == nil || err.Error() != "enough" {
		t.Error(err)
	}
}

type hanging struct{ asked func() }

func (hanging) Name() string { return "Hangs" }

func (h hanging) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status {
	h.asked()
	return nil
}

func sorted(lines []string) string {
	for i := range lines {
		for j := i; j > 0 && lines[j] < lines[j-1]; j-- {
			lines[j], lines[j-1] = lines[j-1], lines[j]
		}
	}
	return strings.Join(lines, "\n")
}

func BenchmarkAllPodsRescheduled(b *testing.B) {
	for b.Loop() {
		e := over(b, made(b, 1000, 3000, true), nil)
		testkit.Must(b, e.Run(b.Context()))
	}
}

// TestPodsAlikeFareAlike: a pod gets the same message as the pending pod that is remembered.
func TestPodsAlikeFareAlike(t *testing.T) {
	cluster := "nodes:\n" + node("n1", "2") + node("m1", "2") + "pods:\n" + pod("z", "n1", "2", "")
	for i := range 30 {
		cluster += pod(fmt.Sprint("a", i), "", "1", "") + pod(fmt.Sprint("b", i), "", "3", "")
	}
	remembered := over(t, read(t, cluster), nil)
	asked := 0
	remembered.Scheduler.Kube.Profiles["default-scheduler"] = &counting{remembered.Scheduler.Kube.Profiles["default-scheduler"], &asked}
	each := over(t, read(t, cluster), func(o *Options) { o.Recorder = recorder.New(func() {}) })
	got, want := outcomes(t, remembered), outcomes(t, each)
	if got != want || strings.Count(got, "Scheduled") != 2 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if asked > 8 {
		t.Errorf("plugins were asked of %d pods", asked)
	}
}

type counting struct {
	framework.Framework
	asked *int
}

func (c *counting) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	*c.asked++
	return c.Framework.RunPreFilterPlugins(ctx, state, pod)
}

// TestVerdictsOnANodeAreKeptUntilItChanges: a recorder has plugins asked each time.
func TestVerdictsOnANodeAreKeptUntilItChanges(t *testing.T) {
	asked := map[bool]int{}
	engines := map[bool]*Engine{}
	for _, recorded := range []bool{false, true} {
		engines[recorded] = over(t, made(t, 60, 60, true), func(o *Options) {
			if recorded {
				o.Recorder = recorder.New(func() {})
			}
		})
		of := implementation(engines[recorded].Scheduler.Kube.Profiles["default-scheduler"])
		private.Wrap(of, "filterPlugins", func(p fwk.FilterPlugin) fwk.FilterPlugin { return countsFilter{p, func() { asked[recorded]++ }} })
	}
	changes := []func(*v1.Node){
		func(*v1.Node) {},
		func(n *v1.Node) { n.Spec.Unschedulable = true },
		func(n *v1.Node) {
			n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "new", Effect: v1.TaintEffectNoSchedule})
		},
		func(n *v1.Node) { n.Labels["disk"] = "ssd" },
		func(n *v1.Node) { n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse("64") },
		func(n *v1.Node) { n.Spec = v1.NodeSpec{} },
	}
	for round, change := range changes {
		var got [2]string
		for i, recorded := range []bool{false, true} {
			e := engines[recorded]
			for place, n := range cluster.All[*v1.Node](e.Cluster) {
				if (place+round)%4 > 0 {
					continue
				}
				n = n.DeepCopy()
				change(n)
				testkit.Must(t, e.Cluster.Update(n))
			}
			for j := range 120 {
				p := read(t, "pods:\n"+pod(fmt.Sprint("p", round, "-", j), "", fmt.Sprint(j%3*2+1), []string{"", "nodeSelector: {disk: ssd}, ", "tolerations: [{key: new, operator: Exists}], "}[j/3%3])).Pods[0]
				_, err := e.Cluster.Create(t.Context(), &p)
				testkit.Must(t, err)
			}
			got[i] = outcomes(t, e)
			for j, p := range cluster.All[*v1.Pod](e.Cluster) {
				if p.Spec.NodeName != "" && j%5 == 0 {
					e.Cluster.Delete(p)
				}
			}
		}
		if got[0] != got[1] || !strings.Contains(got[0], "Scheduled") || !strings.Contains(got[0], "Unschedulable") {
			t.Fatalf("round %d: got\n%s\nwant\n%s", round, got[0], got[1])
		}
	}
	if asked[false] > asked[true]/2 {
		t.Errorf("plugins were asked %d times, and %d times by an engine that keeps nothing", asked[false], asked[true])
	}
}

type countsFilter struct {
	fwk.FilterPlugin
	asked func()
}

func (c countsFilter) Filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	c.asked()
	return c.FilterPlugin.Filter(ctx, state, pod, node)
}

// A node that is gone, and had no devices, is no model of one that another node has.
func TestNodeInPlaceOfAnotherHasItsDevices(t *testing.T) {
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+node("n2", "2")+`
resourceSlices: [{metadata: {name: n1}, spec: {driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu}]}}]
`), nil)
	for _, name := range []string{"n2", "n1"} {
		like := cluster.Get[*v1.Node](e.Cluster, "", name)
		e.Cluster.Delete(like)
		testkit.Must(t, e.AddNodes(t.Context(), like, name+"-new"))
	}
	var of []string
	for _, slice := range cluster.All[*resourcev1.ResourceSlice](e.Cluster) {
		of = append(of, *slice.Spec.NodeName)
	}
	if !slices.Equal(of, []string{"n1", "n1-new"}) {
		t.Errorf("devices of %q", of)
	}
}
