// Package referee_test has a live cluster say whether the what-ifs tell the truth: it
// makes the changes of whatif/testdata/scenarios by the API, and expects what was predicted. Its own
// testdata/scenarios are what no what-if comes to yet.
package referee_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/scheduler"
	nodeutil "k8s.io/kubernetes/pkg/util/node"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/scenarios"
)

// everyTenth is what is run unless SCENARIOS is "all", which "make test-minors" sets for the first minor, or
// has a part of the name of those to run.
const everyTenth = 10

func TestLiveClusterComesToWhatWasPredicted(t *testing.T) {
	which := os.Getenv("SCENARIOS")
	all := slices.Concat(scenarios.All(t, "../../whatif/testdata/scenarios"), scenarios.All(t, "testdata/scenarios"))
	for i, s := range all { // by configuration, so that few schedulers are started
		if which == "" && i%everyTenth != 0 || which != "" && which != "all" && !strings.Contains(s.Name, which) {
			all[i] = nil
		}
	}
	all = slices.DeleteFunc(all, func(s *scenarios.Scenario) bool { return s == nil })
	slices.SortStableFunc(all, func(a, b *scenarios.Scenario) int { return strings.Compare(a.Config, b.Config) })
	const clusters = 2 // each waits half of the time
	for some := range slices.Chunk(all, max(1, (len(all)+clusters-1)/clusters)) {
		t.Run("from "+some[0].Name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			r.settled = testkit.Patience
			for _, s := range some {
				t.Run(s.Name, func(t *testing.T) {
					r.reset(t, s)
					lines := r.change(t, s, s.Expect)
					if !slices.Equal(lines, s.Expect) {
						t.Errorf("it comes to:\n%s\npredicted is:\n%s", strings.Join(lines, "\n"), strings.Join(s.Expect, "\n"))
					}
				})
			}
		})
	}
}

// start starts the live cluster of a test.
func start(t *testing.T) *referee {
	r := &referee{patience: testkit.Patience}
	var err error
	if r.Simulator, err = simulator.Start(t.Context(), simulator.Config{Variant: "none", Prepare: func(s *scheduler.Scheduler) { r.scheduler = s }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { testkit.Must(t, r.Stop()) })
	return r
}

type referee struct {
	*simulator.Simulator
	scheduler *scheduler.Scheduler // the one that runs
	patience  time.Duration        // how long anything may take
	settled   time.Duration        // how long an outcome stays as it is to be one
}

// reset makes the cluster that of a scenario.
func (r *referee) reset(t scenarios.T, s *scenarios.Scenario) {
	testkit.Must(t, r.Reset(t.Context()))
	r.enter(t, s)
}

// change makes the change of a scenario and returns the outcome, at once if that is the predicted one.
func (r *referee) change(t scenarios.T, s *scenarios.Scenario, predicted []string) []string {
	s.Change(t, r.AdminConfig())
	return r.outcome(t, s, r.settled, predicted)
}

// rest waits until nothing more comes of a part of a change.
func (r *referee) rest(t scenarios.T, s *scenarios.Scenario) {
	const enough = 300 * time.Millisecond
	before := *s
	before.Evict, before.Drain = nil, nil // which come last
	r.outcome(t, &before, enough, nil)
}

// outcome waits until the pods are as predicted, or stay for a time as they are, and returns what they are.
func (r *referee) outcome(t scenarios.T, s *scenarios.Scenario, settled time.Duration, predicted []string) (lines []string) {
	var evictions scenarios.Evictions
	looks, since := 0, time.Now()
	r.wait(t, "nothing more comes of it", func(ctx context.Context) error {
		gone, err := evictions.Go(ctx, s, r.Client())
		if err != nil || gone > 0 {
			return errors.Join(err, fmt.Errorf("%d pods were evicted", gone))
		}
		pods, err := r.pods(ctx)
		if err != nil {
			return err
		}
		was := lines
		lines = scenarios.Lines(pods, evictions.Kept)
		err = cmp.Or(r.atRest(pods), r.nodesAtRest(pods))
		if err != nil || !slices.Equal(lines, was) {
			looks = 0
			since = time.Now()
			return errors.Join(err, fmt.Errorf("it comes to:\n%s", strings.Join(lines, "\n")))
		}
		looks++
		if looks > 1 && slices.Equal(lines, predicted) || time.Since(since) > settled { // a pod that is just tried is not in the queue
			return nil
		}
		return fmt.Errorf("it comes to:\n%s\npredicted is:\n%s", strings.Join(lines, "\n"), strings.Join(predicted, "\n"))
	})
	return lines
}

// wait waits until a condition returns nil, and ends the test with its last error if it never does.
func (r *referee) wait(t scenarios.T, what string, condition func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, r.patience, true, func(context.Context) (bool, error) {
		last = condition(t.Context())
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v: %v", what, err, last)
	}
}

func (r *referee) pods(ctx context.Context) ([]*v1.Pod, error) {
	list, err := r.Client().CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods := make([]*v1.Pod, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	return pods, nil
}

// noNodes is the message of a scheduler that has no nodes at all, which it does not wait for.
const noNodes = "no nodes available to schedule pods"

// atRest is an error as long as the scheduler may go on by itself. A pod on which it has an
// error it tries for ever.
func (r *referee) atRest(pods []*v1.Pod) error {
	queue := r.scheduler.SchedulingQueue
	for _, pod := range slices.Concat(queue.PodsInActiveQ(), queue.InFlightPods(), queue.PodsInBackoffQ(), queue.PodsInActiveQ()) { // its way
		at := slices.IndexFunc(pods, func(p *v1.Pod) bool { return p.UID == pod.UID })
		if at < 0 {
			return fmt.Errorf("pod %s is gone, and in the queue", pod.Name)
		}
		_, c := podutil.GetPodCondition(&pods[at].Status, v1.PodScheduled)
		if c == nil || c.Reason != v1.PodReasonSchedulerError && c.Message != noNodes {
			return fmt.Errorf("pod %s is in the queue", pod.Name)
		}
	}
	return nil
}

// nodesAtRest is an error as long as controllers have to delete pods whose node is gone, or to taint a node.
func (r *referee) nodesAtRest(pods []*v1.Pod) error {
	nodes, err := r.Informers().Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	for _, pod := range pods {
		there := func(node *v1.Node) bool { return node.Name == pod.Spec.NodeName }
		held := pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0
		if pod.Spec.NodeName != "" && !held && !slices.ContainsFunc(nodes, there) {
			return fmt.Errorf("pod %s: node %s is gone", pod.Name, pod.Spec.NodeName)
		}
	}
	if !slices.ContainsFunc(nodes, nodeutil.IsNodeReady) {
		return nil // then no node is tainted
	}
	for _, node := range nodes {
		evicts := func(t v1.Taint) bool {
			return t.Effect == v1.TaintEffectNoExecute && (t.Key == v1.TaintNodeNotReady || t.Key == v1.TaintNodeUnreachable)
		}
		if slices.ContainsFunc(node.Spec.Taints, evicts) == nodeutil.IsNodeReady(node) {
			return fmt.Errorf("node %s: %v, taints: %v", node.Name, node.Status.Conditions, node.Spec.Taints)
		}
	}
	return nil
}

// enter makes the cluster of a scenario, and waits until all is as the file says.
func (r *referee) enter(t scenarios.T, s *scenarios.Scenario) {
	t.Helper()
	config, err := simulator.SchedulerConfig(s.Config)
	testkit.Must(t, err)
	if string(config) != string(r.SchedulerConfig()) {
		testkit.Must(t, r.ApplySchedulerConfig(t.Context(), config))
	}
	testkit.Must(t, r.Import(t.Context(), s.Cluster(t), nil))
	in := s.Cluster(t)
	for i := range in.Pods {
		status := in.Pods[i].Status
		if len(status.Conditions)+len(status.ContainerStatuses) > 0 {
			r.restore(t, &in.Pods[i])
		}
	}
	r.waitEntered(t, s, in)
	// The scheduler may not have heard of all that the API server says, and would try a pod for it while the change is
	// made. One that starts knows all of it before it tries a pod.
	testkit.Must(t, r.ApplySchedulerConfig(t.Context(), config))
	r.waitEntered(t, s, in)
}

func (r *referee) waitEntered(t scenarios.T, s *scenarios.Scenario, in *snapshot.Snapshot) {
	t.Helper()
	r.wait(t, "the cluster is as in the file", func(ctx context.Context) error { return r.entered(ctx, s, in) })
}

// restore gives a pod that runs what only a real kubelet would have in its status.
func (r *referee) restore(t scenarios.T, file *v1.Pod) {
	t.Helper()
	client := r.Client().CoreV1().Pods(file.Namespace)
	r.wait(t, "the status of pod "+file.Name, func(ctx context.Context) error {
		pod, err := client.Get(ctx, file.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := runs(pod); err != nil {
			return err
		}
		for i := range file.Status.Conditions {
			podutil.UpdatePodCondition(&pod.Status, &file.Status.Conditions[i])
		}
		for _, status := range file.Status.ContainerStatuses {
			at := slices.IndexFunc(pod.Status.ContainerStatuses, func(c v1.ContainerStatus) bool { return c.Name == status.Name })
			pod.Status.ContainerStatuses[at].Resources, pod.Status.ContainerStatuses[at].AllocatedResources = status.Resources, status.AllocatedResources
		}
		pod.Status.Resources, pod.Status.AllocatedResources = file.Status.Resources, file.Status.AllocatedResources // of the whole pod
		_, err = client.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		return err
	})
}

// runs is an error as long as a kubelet has not begun with a pod that has a node.
func runs(pod *v1.Pod) error {
	if pod.Spec.NodeName != "" && !podutil.IsPodTerminal(pod) && (pod.Status.Phase != v1.PodRunning || pod.Status.PodIP == "") {
		return fmt.Errorf("pod %s is %s", pod.Name, pod.Status.Phase)
	}
	return nil
}

func (r *referee) entered(ctx context.Context, s *scenarios.Scenario, in *snapshot.Snapshot) error {
	nodes, err := r.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range nodes.Items {
		if err := tainted(&nodes.Items[i]); err != nil {
			return err
		}
	}
	pods, err := r.pods(ctx)
	if err != nil {
		return err
	}
	if len(nodes.Items) != len(in.Nodes) || len(pods) != len(in.Pods) {
		return fmt.Errorf("%d nodes and %d pods: the file has %d and %d", len(nodes.Items), len(pods), len(in.Nodes), len(in.Pods))
	}
	lines := scenarios.Lines(pods, nil)
	if s.Begin != nil && !slices.Equal(lines, s.Begin) {
		return fmt.Errorf("it begins with:\n%s", strings.Join(lines, "\n"))
	}
	for _, pod := range pods {
		_, looked := podutil.GetPodCondition(&pod.Status, v1.PodScheduled)
		waits := pod.Spec.NodeName == "" && pod.Spec.SchedulerName == v1.DefaultSchedulerName && len(pod.Spec.ResourceClaims) == 0 // which may not be there
		if looked == nil && waits {
			return fmt.Errorf("pod %s was not looked at", pod.Name)
		}
		if err := cmp.Or(runs(pod), r.reserved(ctx, pod)); err != nil {
			return err
		}
	}
	budgets, err := r.Client().PolicyV1().PodDisruptionBudgets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range budgets.Items {
		if err := counted(&budgets.Items[i], pods); err != nil {
			return err
		}
	}
	for i := range in.LimitRanges {
		if err := r.limits(ctx, in.LimitRanges[i].Namespace); err != nil {
			return err
		}
	}
	for i := range in.Pods {
		there := func(pod *v1.Pod) bool { return pod.Name == in.Pods[i].Name }
		if len(in.ResourceQuotas) > 0 && !slices.ContainsFunc(pods, there) {
			return fmt.Errorf("pod %s was preempted, perhaps before the quota was counted, which the one in its place exceeds", in.Pods[i].Name)
		}
	}
	for i := range in.ResourceQuotas {
		if err := r.quota(ctx, &in.ResourceQuotas[i]); err != nil {
			return err
		}
	}
	return r.atRest(pods)
}

// tainted is an error as long as a node does not have the taints of its state.
func tainted(node *v1.Node) error {
	at := slices.IndexFunc(node.Status.Conditions, func(c v1.NodeCondition) bool { return c.Type == v1.NodeReady })
	if at < 0 {
		return fmt.Errorf("node %s does not say whether it is ready", node.Name)
	}
	ready := node.Status.Conditions[at].Status
	for key, want := range map[string]bool{
		v1.TaintNodeUnschedulable: node.Spec.Unschedulable,
		v1.TaintNodeNotReady:      ready == v1.ConditionFalse,
		v1.TaintNodeUnreachable:   ready == v1.ConditionUnknown,
	} {
		if slices.ContainsFunc(node.Spec.Taints, func(t v1.Taint) bool { return t.Key == key && t.Effect == v1.TaintEffectNoSchedule }) != want {
			return fmt.Errorf("node %s: cordoned: %t, ready: %s, taints: %v", node.Name, node.Spec.Unschedulable, ready, node.Spec.Taints)
		}
	}
	return nil
}

// quota is an error as long as a quota is not counted.
func (r *referee) quota(ctx context.Context, file *v1.ResourceQuota) error {
	quota, err := r.Client().CoreV1().ResourceQuotas(file.Namespace).Get(ctx, file.Name, metav1.GetOptions{})
	if err == nil && (!apiequality.Semantic.DeepEqual(quota.Status.Hard, file.Spec.Hard) || len(quota.Status.Used) == 0) {
		err = fmt.Errorf("quota %s is not counted: %+v", file.Name, quota.Status)
	}
	return err
}

// limits is an error as long as the API server does not know of a namespace's LimitRange.
func (r *referee) limits(ctx context.Context, namespace string) error {
	probe := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "c"}}}}
	made, err := r.Client().CoreV1().Pods(namespace).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil && len(made.Spec.Containers[0].Resources.Requests) == 0 {
		err = fmt.Errorf("a pod in %s gets no requests", namespace)
	}
	return err
}

// reserved is an error as long as a pod that runs does not have the claims that it names.
func (r *referee) reserved(ctx context.Context, pod *v1.Pod) error {
	for _, of := range pod.Spec.ResourceClaims {
		if of.ResourceClaimName == nil || pod.Spec.NodeName == "" {
			continue
		}
		claim, err := r.Client().ResourceV1().ResourceClaims(pod.Namespace).Get(ctx, *of.ResourceClaimName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(claim.Status.ReservedFor, func(by resourcev1.ResourceClaimConsumerReference) bool { return by.UID == pod.UID }) {
			return fmt.Errorf("claim %s is not reserved for pod %s", claim.Name, pod.Name)
		}
	}
	return nil
}

// counted is an error as long as a budget has not counted the pods that are ready.
func counted(b *policyv1.PodDisruptionBudget, pods []*v1.Pod) error {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return err
	}
	ready := 0
	for _, pod := range pods {
		if selector.Matches(labels.Set(pod.Labels)) && podutil.IsPodReady(pod) {
			ready++
		}
	}
	if meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition) != nil && b.Status.Conditions[0].Reason == policyv1.SyncFailedReason {
		return nil // it cannot be counted
	}
	if len(b.Status.Conditions) == 0 || int(b.Status.CurrentHealthy) != ready || b.Status.ObservedGeneration != b.Generation {
		return fmt.Errorf("budget %s: %d pods are ready: %+v", b.Name, ready, b.Status)
	}
	return nil
}
