package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

// limit ends the run of a variant that is too slow for all pods.
const limit = 20 * time.Second

// BenchmarkScheduler measures a whole scheduler with each variant: a real control plane,
// pending pods, and a real kube-scheduler. The nodes exist in the API only. They are large
// and Ready without a kubelet, not even a fake one, which would take a share of the machine.
// But their status is renewed as often as kubelets do it.
func BenchmarkScheduler(b *testing.B) {
	variants := slices.DeleteFunc(allVariants(b), func(d *variant) bool { return d.serve == nil })
	few := slices.DeleteFunc(slices.Clone(variants), func(d *variant) bool { return d.name != "none" && d.name != "v2" && d.name != "native" })
	turns := []struct {
		kase     string
		variants []*variant
		pods     func(*variant) []*v1.Pod
	}{
		{"all", variants, mix},
		{"new", few, func(*variant) []*v1.Pod { return podsLike(newPatterns) }},
		{"decisions", []*variant{ofNative(), withDecisions(ofNative())}, mix},
		{"gpus", packing(), withGPUs},
		{"limits", []*variant{withLimit(ofNative(), "default"), withLimit(ofNative(), "shipped"), ofNative()}, mix},
	}
	for _, n := range nodes {
		c := &wholeCluster{nodes: n}
		for _, t := range turns {
			inTurns(b, *wholeRounds, fmt.Sprintf("case=%s/nodes=%d", t.kase, n), t.variants, func(b *testing.B, d *variant) {
				testkit.Must(b, c.start())
				for b.Loop() {
					c.schedule(b, d, t.pods(d))
				}
				b.ReportMetric(0, "ns/op") // most of which is making and deleting pods
			})
		}
		if c.plane != nil {
			_ = c.plane.Stop()
		}
	}
}

// mix are pods of ten kinds in turn, each of which matches some node. The variants whose
// attempts are counted have some unschedulable ones more.
func mix(d *variant) (all []*v1.Pod) {
	kinds := slices.DeleteFunc(slices.Clone(cases), func(c *kase) bool { return c.notInMix })
	if d.name == "v2" || strings.HasPrefix(d.name, "native") {
		unschedulable := &kase{pattern: `^nothing-$`}
		for i := range 20 {
			pod := unschedulable.pod(i)
			pod.Name = fmt.Sprintf("%s%d", rejected, i)
			all = append(all, pod)
		}
	}
	return append(all, podsLike(kinds...)...)
}

// withDecisions is a variant whose scheduler keeps its last decisions.
func withDecisions(d *variant) *variant {
	d.name, d.decisions = d.name+"-decisions", 64<<20
	return d
}

// withLimit is a variant whose scheduler sends as many requests a second as kube-scheduler does by default, or as deploy/ has it.
func withLimit(d *variant, name string) *variant {
	serve, limit := d.serve, "clientConnection: {qps: 50, burst: 100}\n"
	d.name += "-" + name
	d.serve = func(tb testing.TB) string {
		if name == "shipped" {
			limit = regexp.MustCompile(`(?m)^clientConnection: .*\n`).FindString(string(read(tb, os.ReadFile, "../deploy/scheduler/native/config.yaml")))
		}
		return strings.Replace(serve(tb), unlimited, limit, 1)
	}
	return d
}

// rejected begins the names of pods that match no node.
const rejected = "rejected-"

// podsLike are the pods of a turn.
func podsLike(kinds ...*kase) (all []*v1.Pod) {
	for i := range *pods {
		all = append(all, kinds[i%len(kinds)].pod(i))
	}
	return all
}

// wholeCluster is a control plane with nodes.
type wholeCluster struct {
	nodes      int
	plane      *controlplane.Cluster // nil: not started
	client     kubernetes.Interface
	kubeconfig string // of the scheduler
}

// start starts it, unless it runs.
func (c *wholeCluster) start() (err error) {
	if c.plane != nil {
		return nil
	}
	c.plane, err = controlplane.Start(background, controlplane.Config{})
	if err != nil {
		return err
	}
	config := c.plane.AdminConfig()
	config.QPS, config.ContentType = -1, "application/vnd.kubernetes.protobuf"
	c.kubeconfig = filepath.Join(c.plane.DataDir(), "scheduler.kubeconfig")
	c.client, err = kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := c.plane.WriteKubeconfig(c.kubeconfig, "system:kube-scheduler"); err != nil {
		return err
	}
	return inParallel(c.nodes, func(i int) error {
		node := objects.Node(nodeName(i), i)
		node.UID, node.ResourceVersion = "", ""
		room := objects.Resources("1000", "4000Gi")
		room[v1.ResourcePods] = *room.Cpu()
		room[gpu] = *resource.NewQuantity(gpus, resource.DecimalSI)
		node.Status.Capacity, node.Status.Allocatable = room, room
		_, err := c.client.CoreV1().Nodes().Create(background, node, metav1.CreateOptions{})
		return err
	})
}

// schedule starts a scheduler on pending pods, and measures from its first attempt to the
// last binding that a watch reports: wall time, and the CPU time of the whole process, which
// includes the API server and etcd.
func (c *wholeCluster) schedule(b *testing.B, d *variant, all []*v1.Pod) {
	text := d.serve(b)
	testkit.Must(b, c.createPods(all))
	defer c.deletePods(b, all)
	events, err := c.watch(b.Context())
	testkit.Must(b, err)
	defer events.Stop()
	config, err := kubescheduler.Read([]byte(text))
	testkit.Must(b, err)
	clock, ended := &clock{tries: map[string]int{}}, make(chan error, 1)
	ctx, stop := context.WithCancel(b.Context())
	renewed := c.heartbeats(ctx)
	runtime.GC()
	go func() {
		ended <- kubescheduler.Run(ctx, kubescheduler.Options{
			Kubeconfig: c.kubeconfig, Config: config, Prepare: clock.attach, Decisions: d.decisions,
		})
	}()
	bound, last, err := awaitBound(events, ended)
	cpu := cpuTime()
	b.ReportMetric(renewed(), "heartbeats/s")
	stop()
	if err == nil {
		err = <-ended
	}
	if err != nil || bound == 0 {
		b.Fatalf("%d pods bound; %v", bound, err)
	}
	b.ReportMetric(float64(bound)/last.Sub(clock.first).Seconds(), "pods/s")
	b.ReportMetric(float64(cpu-clock.cpu)/float64(bound), "cpu-ns/pod")
	b.ReportMetric(float64(*pods-bound), "pods-left")
	if len(clock.tries) > 0 {
		all := 0
		for _, tries := range clock.tries {
			all += tries
		}
		b.ReportMetric(float64(all)/float64(len(clock.tries)), "tries")
	}
	slices.Sort(clock.took)
	for _, p := range []int{50, 90, 99} {
		b.ReportMetric(float64(clock.took[(len(clock.took)-1)*p/100]), fmt.Sprintf("p%d-ns", p))
	}
}

func (c *wholeCluster) createPods(all []*v1.Pod) error {
	return inParallel(len(all), func(i int) error {
		all[i].UID = ""
		return insist(apierrors.IsAlreadyExists, func() error {
			_, err := c.client.CoreV1().Pods(all[i].Namespace).Create(background, all[i], metav1.CreateOptions{})
			return err
		})
	})
}

// deletePods deletes all pods.
func (c *wholeCluster) deletePods(b *testing.B, all []*v1.Pod) {
	now := int64(0)
	err := inParallel(len(all), func(i int) error {
		return insist(apierrors.IsNotFound, func() error {
			return c.client.CoreV1().Pods(all[i].Namespace).Delete(background, all[i].Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
		})
	})
	if err != nil {
		b.Error(err)
	}
}

// insist retries while the API server is too busy.
func insist(done func(error) bool, do func() error) error {
	tried := false
	return retry.OnError(retry.DefaultBackoff, apierrors.IsTimeout, func() error {
		err := do()
		if tried && done(err) {
			return nil
		}
		tried = true
		return err
	})
}

// inParallel does n pieces of work, 16 at a time, and returns the first error.
func inParallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	workqueue.ParallelizeUntil(background, 16, n, func(i int) { errs[i] = do(i) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// watch reports changes of the pods from now on. It starts again if the API server closes
// it, as it does with a client that reads too slowly.
func (c *wholeCluster) watch(ctx context.Context) (watch.Interface, error) {
	all := c.client.CoreV1().Pods(metav1.NamespaceDefault)
	now, err := all.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	return watchtools.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{WatchFuncWithContext: all.Watch})
}

// awaitBound counts the pods that are bound, until all are or the time is up, and
// says when the last one was.
func awaitBound(events watch.Interface, ended chan error) (n int, last time.Time, err error) {
	timeout, seen := time.After(limit), map[string]bool{}
	for len(seen) < *pods {
		select {
		case event, open := <-events.ResultChan():
			pod, ok := event.Object.(*v1.Pod)
			if !open || !ok {
				return len(seen), last, fmt.Errorf("the watch of the pods has ended: %+v", event.Object)
			}
			if pod.Spec.NodeName != "" && !seen[pod.Name] {
				seen[pod.Name], last = true, time.Now()
			}
		case err := <-ended:
			return len(seen), last, fmt.Errorf("the scheduler has ended: %w", err)
		case <-timeout:
			return len(seen), last, nil
		}
	}
	return len(seen), last, nil
}

// clock takes the time of each scheduling cycle. They come one after another.
type clock struct {
	first time.Time
	cpu   time.Duration // of the process, at first
	took  []time.Duration
	tries map[string]int // attempts, by unschedulable pod
}

func (c *clock) attach(s *scheduler.Scheduler) error {
	schedulePod := s.SchedulePod
	s.SchedulePod = func(ctx context.Context, profile framework.Framework, state fwk.CycleState, queued *hooks.Queued) (scheduler.ScheduleResult, error) {
		began := time.Now()
		if c.first.IsZero() {
			c.first, c.cpu = began, cpuTime()
		}
		result, err := schedulePod(ctx, profile, state, queued)
		pod := hooks.PodOf(queued)
		if strings.HasPrefix(pod.Name, rejected) {
			c.tries[pod.Name]++
		} else {
			c.took = append(c.took, time.Since(began))
		}
		return result, err
	}
	return nil
}

// gpus are what the nodes of a whole cluster have of it.
const (
	gpu  = "nvidia.com/gpu"
	gpus = 8
)

// packing are the guest of examples/pack, and what of kube-scheduler scores as it does.
func packing() []*variant {
	return []*variant{
		{name: "pack", serve: func(tb testing.TB) string {
			file := filepath.Join(tb.TempDir(), "pack.wasm")
			build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "../examples/pack")
			build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
			output, err := build.CombinedOutput()
			if err != nil {
				tb.Fatalf("%v: %s", err, output)
			}
			return withPlugin("Pack") + `    score:
      disabled:
      - name: NodeResourcesFit
  pluginConfig:
  - name: Pack
    args:
      guestURL: file://` + file + "\n"
		}},
		{name: "RequestedToCapacityRatio", serve: func(testing.TB) string {
			return configuration + `profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources:
        - {name: ` + gpu + `, weight: 1}
        requestedToCapacityRatio:
          shape:
          - {utilization: 0, score: 0}
          - {utilization: 100, score: 10}
`
		}},
	}
}

// withGPUs are pods without a regex that request one to four GPUs in turn.
func withGPUs(*variant) []*v1.Pod {
	all := podsLike(&kase{plain: true})
	for i, pod := range all {
		requests := pod.Spec.Containers[0].Resources.Requests.DeepCopy()
		requests[gpu] = *resource.NewQuantity(int64(1+i%4), resource.DecimalSI)
		pod.Spec.Containers[0].Resources = v1.ResourceRequirements{Requests: requests, Limits: v1.ResourceList{gpu: requests[gpu]}}
	}
	return all
}
