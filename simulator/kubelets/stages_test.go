package kubelets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/goroutines"
	"wasmkwokwizardry.io/regex-scheduling/simulator/stages"
)

// stage is a stage of a kind, of which the rest of the spec is given.
func stage(name, kind, selector, rest string) string {
	return fmt.Sprintf("---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: %s}\nspec:\n  resourceRef: {apiGroup: v1, kind: %s}\n"+
		"  selector:\n    matchExpressions:\n%s%s\n", name, kind, selector, rest)
}

// when are requirements, each a jq expression that must be true.
func when(expressions ...string) (all string) {
	for _, e := range expressions {
		all += fmt.Sprintf("    - {key: '%s', operator: In, values: ['true']}\n", e)
	}
	return all
}

const (
	pending = `.status.phase == "Pending"`
	running = `.status.phase == "Running"`
	alive   = `.metadata.deletionTimestamp == null`
	deleted = `.metadata.deletionTimestamp != null`
)

// status is a step that patches the status.
func status(fields string) string {
	return "  - patch: {subresource: status, root: status, template: '" + fields + "'}\n"
}

const address = `podIP: {{ PodIPWith .spec.nodeName (or .spec.hostNetwork false) "" "" "" }}`

var (
	runs = stage("runs", "Pod", when(pending, alive), "  steps:\n"+status("{phase: Running, "+address+"}"))
	goes = stage("goes", "Pod", when(deleted), "  steps: [{finalizers: {empty: true}}, {delete: true}]")
)

// follow has kubelets follow stages until the test ends, in the place of those
// that are there for all tests.
func follow(t *testing.T, texts ...string) {
	t.Helper()
	set, err := stages.Read(stages.Source{Name: "stages.yaml", Text: []byte(strings.Join(texts, ""))})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	t.Cleanup(func() {
		stop()
		if err := startAll(admin); err != nil {
			t.Fatal(err)
		}
	})
	var ctx context.Context
	ctx, stop = context.WithCancel(context.Background())
	logs.Take()
	if err := Start(ctx, admin, set, &logs); err != nil {
		t.Fatal(err)
	}
}

// job makes a job whose pods are on a node.
func job(t *testing.T, name, node string, annotations map[string]string) {
	t.Helper()
	pod := v1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: annotations},
		Spec: v1.PodSpec{
			NodeName: node, RestartPolicy: v1.RestartPolicyNever,
			Containers: []v1.Container{{Name: "main", Image: "example.com/none"}},
		},
	}
	jobs := client.BatchV1().Jobs("default")
	_, err := jobs.Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       batchv1.JobSpec{Completions: ptr.To[int32](3), Parallelism: ptr.To[int32](3), BackoffLimit: ptr.To[int32](0), Template: pod},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := jobs.Delete(context.Background(), name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)})
		if err != nil {
			t.Error(err)
		}
	})
}

// jobIs waits until a job has a condition.
func jobIs(t *testing.T, name string, kind batchv1.JobConditionType) {
	t.Helper()
	eventually.Succeeds(t, fmt.Sprintf("job %s is %s", name, kind), func(ctx context.Context) error {
		job, err := client.BatchV1().Jobs("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind }) {
			return fmt.Errorf("status %+v", job.Status)
		}
		return nil
	})
}

// The example in the documentation has jobs that finish and jobs that fail, and
// nodes that are not ready for a while.
func TestTheExampleDoesWhatItSays(t *testing.T) {
	text, err := os.ReadFile("../../docs/stages.yaml")
	if err != nil {
		t.Fatal(err)
	}
	follow(t, string(text))
	newNode(t, "staged")
	readyNode(t, "staged")
	job(t, "well", "staged", map[string]string{"demo/runs": "50ms", "demo/fails": "0"})
	jobIs(t, "well", batchv1.JobComplete)
	job(t, "ill", "staged", map[string]string{"demo/runs": "1h", "demo/fails": "1000000000"})
	jobIs(t, "ill", batchv1.JobFailed)
	eventually.Succeeds(t, "there is an event of a pod that crashed", func(ctx context.Context) error {
		events, err := client.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=Crashed"})
		if err == nil && len(events.Items) == 0 {
			err = errors.New("none")
		}
		return err
	})

	for _, failing := range []bool{true, false} {
		label(t, "staged", fmt.Sprint(failing))
		eventually.Succeeds(t, fmt.Sprintf("the node fails: %v", failing), func(ctx context.Context) error {
			node, err := client.CoreV1().Nodes().Get(ctx, "staged", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if (readiness(node) != nil) != failing || (len(node.Spec.Taints) > 0) != failing {
				return fmt.Errorf("taints %v, status %v", node.Spec.Taints, node.Status)
			}
			return nil
		})
	}
}

func label(t *testing.T, node, value string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{"demo/not-ready":%q}}}`, value)
	if _, err := client.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestAKindWithoutStagesGoesOnAsBefore(t *testing.T) {
	t.Run("nodes", func(t *testing.T) {
		follow(t, runs, goes)
		newNode(t, "plain")
		readyNode(t, "plain")
		createPod(t, "plain", "staged", func(pod *v1.Pod) { pod.Annotations = map[string]string{runsFor: "0s"} })
		podIn(t, v1.PodRunning, "staged") // and not ended, since no stage says so
		removePod(t, "staged")
	})
	t.Run("pods", func(t *testing.T) {
		follow(t, stage("waits", "Node", when("false"), "  steps: [{delete: true}]"))
		newNode(t, "untouched")
		makePod(t, "untouched", "plain")
		podIn(t, v1.PodRunning, "plain")
		removePod(t, "plain")
		node, err := client.CoreV1().Nodes().Get(t.Context(), "untouched", metav1.GetOptions{})
		if err != nil || readiness(node) == nil {
			t.Errorf("the node is ready, though no stage says so: %v", err)
		}
	})
}

func TestPodsOfStagesHaveAddressesOfTheirOwn(t *testing.T) {
	const pods = 40
	follow(t, runs, goes)
	newNode(t, "crowded")
	name := func(i int) string { return fmt.Sprintf("crowd-%d", i) }
	inParallel(pods, func(i int) { makePod(t, "crowded", name(i)) })
	addressesOf(t, name, pods)
	inParallel(pods, func(i int) { removePod(t, name(i)) })
}

// A pod of two families has an address of each, and keeps what it has.
func TestAPodHasAnAddressOfEachRangeOfItsNode(t *testing.T) {
	const both = `podIP: {{ index (PodIPsWith .spec.nodeName false "" "" "") 0 }}, podIPs: [{{ range PodIPsWith .spec.nodeName false "" "" "" }}{ip: "{{ . }}"}, {{ end }}]`
	follow(t, stage("runs", "Pod", when(pending, alive), "  steps:\n"+status("{phase: Running, "+both+"}")),
		stage("ends", "Pod", when(running, alive, `.metadata.labels.end == "now"`), "  steps:\n"+status("{phase: Succeeded, "+both+"}")))
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "dual"}, Spec: v1.NodeSpec{PodCIDR: "10.7.0.0/24", PodCIDRs: []string{"10.7.0.0/24", "fd07::/120"}}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeNode(t, "dual") })
	seen := map[string]bool{}
	for _, name := range []string{"dual-1", "dual-2"} {
		makePod(t, "dual", name)
		t.Cleanup(func() { removePod(t, name) })
		pod := podIn(t, v1.PodRunning, name)
		if len(pod.Status.PodIPs) != 2 || seen[pod.Status.PodIPs[0].IP] || seen[pod.Status.PodIPs[1].IP] {
			t.Errorf("pod %s has %v, and others have %v", name, pod.Status.PodIPs, seen)
		}
		for _, ip := range pod.Status.PodIPs {
			seen[ip.IP] = true
		}
		patch := []byte(`{"metadata":{"labels":{"end":"now"}}}`)
		if _, err := client.CoreV1().Pods("default").Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if ended := podIn(t, v1.PodSucceeded, name); !slices.Equal(ended.Status.PodIPs, pod.Status.PodIPs) {
			t.Errorf("it had %v, and has %v", pod.Status.PodIPs, ended.Status.PodIPs)
		}
	}
}

func TestStagesTakeFinalizersAndDelete(t *testing.T) {
	follow(t, runs, goes)
	newNode(t, "final")
	createPod(t, "final", "held", func(pod *v1.Pod) { pod.Finalizers = []string{"example.com/a", "example.com/b"} })
	podIn(t, v1.PodRunning, "held")
	deletePod(t, "held", nil)
	noPod(t, "held")
	if text := logs.Take(); text != "" {
		t.Errorf("it warned of %s", text)
	}
}

func TestDelaysAreWaitedFor(t *testing.T) {
	const delay = 1500 * time.Millisecond
	follow(t, runs, stage("fails", "Pod", when(running, alive),
		fmt.Sprintf("  delay: {durationMilliseconds: %d}\n  steps:\n", delay.Milliseconds())+status("{phase: Failed}")))
	newNode(t, "slow")
	makePod(t, "slow", "later")
	t.Cleanup(func() { removePod(t, "later") })
	podIn(t, v1.PodRunning, "later")
	began := time.Now()
	podIn(t, v1.PodFailed, "later")
	if took := time.Since(began); took < delay/2 {
		t.Errorf("it failed after %s", took)
	}
}

// Each of these is chosen on what the one before has made, at once.
func TestStagesFollowEachOther(t *testing.T) {
	var chain []string
	for i := range 5 {
		chain = append(chain, stage(fmt.Sprintf("step-%d", i), "Pod", when(alive, fmt.Sprintf(`(.metadata.labels.at // "0") == "%d"`, i)),
			fmt.Sprintf("  immediateNextStage: true\n  steps: [{patch: {root: metadata, template: 'labels: {at: \"%d\"}'}}]", i+1)))
	}
	follow(t, chain...)
	newNode(t, "chain")
	makePod(t, "chain", "chained")
	t.Cleanup(func() { removePod(t, "chained") })
	eventually.Succeeds(t, "all stages were played", func(ctx context.Context) error {
		pod, err := client.CoreV1().Pods("default").Get(ctx, "chained", metav1.GetOptions{})
		if err == nil && pod.Labels["at"] != "5" {
			err = fmt.Errorf("labels %v", pod.Labels)
		}
		return err
	})
	if text := logs.Take(); text != "" {
		t.Errorf("it warned of %s", text)
	}
}

func TestWhatATemplateMakesWrongIsSaidAndOthersGoOn(t *testing.T) {
	follow(t, stage("runs", "Pod", when(pending, alive),
		"  steps:\n"+status("{phase: {{ if .metadata.annotations }}{{ .metadata.annotations.phase }}{{ else }}Running{{ end }}, "+address+"}")))
	newNode(t, "wrong")
	createPod(t, "wrong", "bad", func(pod *v1.Pod) { pod.Annotations = map[string]string{"phase": "]"} })
	t.Cleanup(func() { removePod(t, "bad") })
	makePod(t, "wrong", "good")
	t.Cleanup(func() { removePod(t, "good") })
	podIn(t, v1.PodRunning, "good")
	eventually.Succeeds(t, "it is said", func(context.Context) error {
		for _, part := range []string{"Pod default/bad: stage runs: step 1: patch: the template makes no YAML: ", "; trying again in 1s\n"} {
			if !strings.Contains(logs.String(), part) {
				return fmt.Errorf("no %q in %s", part, &logs)
			}
		}
		return nil
	})
	patch := []byte(`{"metadata":{"annotations":{"phase":"Running"}}}`)
	if _, err := client.CoreV1().Pods("default").Patch(t.Context(), "bad", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	podIn(t, v1.PodRunning, "bad")
}

// Two stages that undo each other would write as fast as the machine can.
func TestACircleOfStagesIsSlowedDownAndSaid(t *testing.T) {
	turn := func(name, from, to string) string {
		return stage(name, "Pod", when(alive, `.metadata.labels.circle == "`+from+`"`), "  steps: [{patch: {root: metadata, template: 'labels: {circle: "+to+"}'}}]")
	}
	follow(t, runs, turn("there", "a", "b"), turn("back", "b", "a"))
	newNode(t, "circle")
	createPod(t, "circle", "dizzy", func(pod *v1.Pod) { pod.Labels = map[string]string{"circle": "a"} })
	t.Cleanup(func() { removePod(t, "dizzy") })
	eventually.Succeeds(t, "it is said", func(context.Context) error {
		if text := logs.String(); !strings.Contains(text, "Pod default/dizzy: stage ") || !strings.Contains(text, "as in a circle") {
			return errors.New(text)
		}
		return nil
	})
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), "dizzy", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before := generation(pod)
	makePod(t, "circle", "steady")
	t.Cleanup(func() { removePod(t, "steady") })
	podIn(t, v1.PodRunning, "steady")
	if pod, err = client.CoreV1().Pods("default").Get(t.Context(), "dizzy", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if now := generation(pod); now-before > 10 {
		t.Errorf("it was written %d times meanwhile", now-before)
	}
}

// generation is a number that grows with each write of anything.
func generation(o metav1.Object) (n int) {
	fmt.Sscan(o.GetResourceVersion(), &n)
	return n
}

func TestStagesOfWhatIsNotServedStopTheStart(t *testing.T) {
	set, err := stages.Read(stages.Source{Name: "stages.yaml", Text: []byte(stage("odd", "Pod", when("true"), "  steps: [{patch: {subresource: state, template: 'a: b'}}]"))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err = Start(ctx, admin, set, nil)
	if want := "stages.yaml:2: stage odd: a patch is of the subresource state, which the API server does not have of a Pod (v1): it has ["; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestNothingOfStagesIsLeftBehind(t *testing.T) {
	set, err := stages.Read(stages.Source{Name: "stages.yaml", Text: []byte(runs)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	goroutines.Mark(ctx, t.Name(), func(ctx context.Context) {
		if err := Start(ctx, admin, set, nil); err != nil {
			t.Fatal(err)
		}
	})
	cancel()
	eventually.Succeeds(t, "all of it ends", func(context.Context) error {
		if left := goroutines.Marked(t, t.Name()); len(left) > 0 {
			return fmt.Errorf("left behind:\n%s", strings.Join(left, "\n"))
		}
		return nil
	})
}

// A pod that is deleted and made again meets the stage that was chosen for its
// former self.
func TestAStageIsNotPlayedOnASuccessor(t *testing.T) {
	follow(t, runs, goes, stage("fails", "Pod", when(running, alive, `.metadata.labels.first == "true"`), "  delay: {durationMilliseconds: 300}\n  steps:\n"+status("{phase: Failed}")))
	newNode(t, "again")
	createPod(t, "again", "twice", func(pod *v1.Pod) { pod.Labels = map[string]string{"first": "true"} })
	podIn(t, v1.PodRunning, "twice")
	removePod(t, "twice")
	makePod(t, "again", "twice")
	t.Cleanup(func() { removePod(t, "twice") })
	podIn(t, v1.PodRunning, "twice")
	makePod(t, "again", "timer")
	t.Cleanup(func() { removePod(t, "timer") })
	patch := []byte(`{"metadata":{"labels":{"first":"true"}}}`)
	if _, err := client.CoreV1().Pods("default").Patch(t.Context(), "timer", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	podIn(t, v1.PodFailed, "timer") // whose time began later
	if pod, err := client.CoreV1().Pods("default").Get(t.Context(), "twice", metav1.GetOptions{}); err != nil || pod.Status.Phase != v1.PodRunning {
		t.Errorf("the successor: %+v, %v", pod.Status, err)
	}
}
