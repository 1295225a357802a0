package kubelets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestBoundPodRunsAndGoesWhenDeleted(t *testing.T) {
	newNode(t, "kubecon-2")
	makePod(t, "", "waiting")
	t.Cleanup(func() { removePod(t, "waiting") })
	createPod(t, "kubecon-2", "web", func(pod *v1.Pod) {
		pod.Spec.InitContainers = []v1.Container{
			{Name: "first", Image: "example.com/first"},
			{Name: "beside", Image: "example.com/beside", RestartPolicy: ptr.To(v1.ContainerRestartPolicyAlways)},
		}
		pod.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: "example.com/gate"}}
		pod.Finalizers = []string{"example.com/keep"}
	})
	pod := podIn(t, v1.PodRunning, "web")
	ip, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil || !podCIDR.Contains(ip) {
		t.Errorf("address %q: %v, want one of %s", pod.Status.PodIP, err, podCIDR)
	}
	if pod.Status.HostIP != NodeIP || pod.Status.StartTime.IsZero() {
		t.Errorf("status %+v: no address of the node, or no time", pod.Status)
	}
	for _, kind := range []v1.PodConditionType{v1.PodScheduled, v1.PodInitialized, v1.ContainersReady, v1.PodReady, "example.com/gate"} {
		testkit.Equal(t, condition(pod, kind), v1.ConditionTrue, "condition %s", kind)
	}
	s, init := pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses
	if len(s) != 1 || s[0].Name != "main" || !s[0].Ready || s[0].State.Running == nil {
		t.Errorf("container statuses %+v", s)
	}
	if len(init) != 2 || init[0].State.Terminated == nil || !init[0].Ready || init[1].State.Running == nil || !init[1].Ready {
		t.Errorf("init container statuses %+v", init)
	}
	podIn(t, v1.PodPending, "waiting")

	deletePod(t, "web", nil)
	pods := client.CoreV1().Pods("default")
	testkit.EventuallyIs(t, "web", pods.Get, func(pod *v1.Pod) bool { // which its finalizer keeps
		return ptr.Deref(pod.DeletionGracePeriodSeconds, 1) == 0 && pod.Status.Phase == v1.PodFailed
	})
	_, err = pods.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	testkit.Must(t, err)
	noPod(t, "web")
}

// Its code and the time that it takes are what the pod says. A pod of a Job ends at once.
func TestPodEndsAsItSays(t *testing.T) {
	newNode(t, "kubecon-7")
	usableNode(t, "kubecon-7")
	job := metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "work", UID: newJob(t, "work")}
	for _, tt := range []struct {
		name, after, code string
		owners            []metav1.OwnerReference
		phase             v1.PodPhase
		atLeast           time.Duration
	}{
		{"of-a-job", "", "", []metav1.OwnerReference{job}, v1.PodSucceeded, 0},
		{"of-a-job-that-fails", "", "3", []metav1.OwnerReference{job}, v1.PodFailed, 0},
		{"of-a-job-that-goes-on", "90s", "", []metav1.OwnerReference{job}, v1.PodRunning, 0},
		{"after-a-second", "1s", "7", nil, v1.PodFailed, time.Second},
		{"a-code-alone-ends-nothing", "", "3", nil, v1.PodRunning, 0},
	} {
		createPod(t, "kubecon-7", tt.name, func(pod *v1.Pod) {
			pod.Spec.RestartPolicy, pod.OwnerReferences, pod.Annotations = v1.RestartPolicyNever, tt.owners, map[string]string{}
			for key, value := range map[string]string{runsFor: tt.after, exitCode: tt.code} {
				if value != "" {
					pod.Annotations[key] = value
				}
			}
		})
		t.Cleanup(func() { removePod(t, tt.name) })
		pod := podIn(t, tt.phase, tt.name)
		s := pod.Status.ContainerStatuses
		if tt.phase == v1.PodRunning {
			continue
		}
		ended := s[0].State.Terminated
		if ended == nil || fmt.Sprint(ended.ExitCode) != cmp.Or(tt.code, "0") || ended.FinishedAt.Sub(pod.Status.StartTime.Time) < tt.atLeast || s[0].Ready {
			t.Errorf("%s: container statuses %+v", tt.name, s)
		}
		if condition(pod, v1.PodReady) != v1.ConditionFalse || pod.Status.PodIP == "" {
			t.Errorf("%s: status %+v", tt.name, pod.Status)
		}
	}
	for wrong, annotations := range map[string]map[string]string{
		`"soon" is not a valid duration`: {runsFor: "soon"}, `"-1s" is not a valid duration`: {runsFor: "-1s"}, `"256" is not a valid exit code`: {runsFor: "1s", exitCode: "256"},
	} {
		_, err := endingOf(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}})
		testkit.ErrorHas(t, err, wrong)
	}
}

// newJob makes one that really is there, or the garbage collector would end what
// it owns. Its controller leaves it alone.
func newJob(t *testing.T, name string) types.UID {
	t.Helper()
	jobs := client.BatchV1().Jobs("default")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{ManagedBy: ptr.To("example.com/test"), Template: v1.PodTemplateSpec{Spec: v1.PodSpec{
		RestartPolicy: v1.RestartPolicyNever, Containers: []v1.Container{{Name: "main", Image: "example.com/none"}},
	}}}}
	job, err := jobs.Create(t.Context(), job, metav1.CreateOptions{})
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, jobs.Delete(context.Background(), name, metav1.DeleteOptions{})) })
	return job.UID
}

// A pod that failed stays so, and one that is sent back runs again, at the same address.
func TestStatusThatAPodIsGivenIsMet(t *testing.T) {
	newNode(t, "kubecon-fail")
	for _, name := range []string{"fails", "back"} {
		makePod(t, "kubecon-fail", name)
		t.Cleanup(func() { removePod(t, name) })
	}
	podIn(t, v1.PodRunning, "fails")
	before := podIn(t, v1.PodRunning, "back").Status.PodIP
	patchPodStatus(t, "fails", `{"status":{"phase":"Failed","reason":"Evicted"}}`)
	patchPodStatus(t, "back", `{"status":{"phase":"Pending"}}`)
	after := podIn(t, v1.PodRunning, "back").Status.PodIP // so the other one has been looked at
	testkit.Equal(t, after, before, "the address")
	testkit.Equal(t, podIn(t, v1.PodFailed, "fails").Status.Reason, "Evicted", "the reason")
}

// A pod without a node is cleaned up after some seconds. Should that come before
// the node does, as on a very busy machine, there is another try.
func TestPodThatIsThereBeforeItsNodeRunsOnceThatIsThere(t *testing.T) {
	for try := range 10 {
		name := fmt.Sprintf("early-%d", try)
		makePod(t, name, name)
		newNode(t, name)
		gone := false
		testkit.Eventually(t, "the pod runs, or is gone", func(ctx context.Context) error {
			pod, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
			gone = apierrors.IsNotFound(err)
			if gone {
				return nil
			}
			if err == nil && pod.Status.Phase != v1.PodRunning {
				err = fmt.Errorf("status %+v", pod.Status)
			}
			return err
		})
		if !gone {
			removePod(t, name)
			return
		}
	}
	t.Error("it was always gone before its node was there")
}

func TestPodOnTheNetworkOfItsNodeHasItsAddress(t *testing.T) {
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "kubecon-net"},
		Spec:       v1.NodeSpec{PodCIDR: "10.9.0.0/24", PodCIDRs: []string{"10.9.0.0/24"}},
		Status:     v1.NodeStatus{Addresses: []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: "10.1.2.3"}}},
	}
	_, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	testkit.Must(t, err)
	t.Cleanup(func() { removeNode(t, "kubecon-net") })
	createPod(t, "kubecon-net", "on-host", func(pod *v1.Pod) { pod.Spec.HostNetwork = true })
	t.Cleanup(func() { removePod(t, "on-host") })
	makePod(t, "kubecon-net", "in-range")
	t.Cleanup(func() { removePod(t, "in-range") })
	pod := podIn(t, v1.PodRunning, "on-host")
	if pod.Status.PodIP != "10.1.2.3" || pod.Status.HostIP != "10.1.2.3" {
		t.Errorf("addresses %s on %s", pod.Status.PodIP, pod.Status.HostIP)
	}
	pod = podIn(t, v1.PodRunning, "in-range")
	if !strings.HasPrefix(pod.Status.PodIP, "10.9.0.") {
		t.Errorf("address %s, want one of the node's range", pod.Status.PodIP)
	}
}

// A pod that is deleted and made again at once meets the status that was just
// being written for its former self.
func TestPodsThatAreMadeAgainRunAndHaveAddressesOfTheirOwn(t *testing.T) {
	const pods, rounds = 30, 3
	newNode(t, "kubecon-again")
	name := func(i int) string { return fmt.Sprintf("again-%d", i) }
	for round := range rounds {
		inParallel(pods, func(i int) {
			for range round { // some live for a moment only
				makePod(t, "kubecon-again", name(i))
				removePod(t, name(i))
			}
			makePod(t, "kubecon-again", name(i))
		})
		addressesOf(t, name, pods)
		inParallel(pods, func(i int) { removePod(t, name(i)) })
	}
}

func TestPodsKeepTheirAddressesOverARestart(t *testing.T) {
	const pods = 20
	newNode(t, "kubecon-restart")
	old, young := func(i int) string { return fmt.Sprintf("old-%d", i) }, func(i int) string { return fmt.Sprintf("young-%d", i) }
	inParallel(pods, func(i int) { makePod(t, "kubecon-restart", old(i)) })
	makePod(t, "kubecon-restart", "leaves")
	podIn(t, v1.PodRunning, "leaves")
	before := addressesOf(t, old, pods)
	restart(t, admin, func() {
		inParallel(pods, func(i int) { makePod(t, "kubecon-restart", young(i)) })
		deletePod(t, "leaves", nil) // unnoticed
	})
	after := addressesOf(t, young, pods)
	for i := range pods {
		now := podIn(t, v1.PodRunning, old(i)).Status.PodIP
		if now != before[i] || slices.Contains(after, now) {
			t.Errorf("pod %s had %s, has %s, and the younger have %s", old(i), before[i], now, after)
		}
	}
	noPod(t, "leaves")
	inParallel(pods, func(i int) { removePod(t, old(i)); removePod(t, young(i)) })
}

func TestWhatFailsIsLoggedAndTriedAgain(t *testing.T) {
	const pods = 20
	logs.Take()
	failing := rest.CopyConfig(admin)
	failing.Wrap(func(next http.RoundTripper) http.RoundTripper { return &firstFails{next: next} })
	restart(t, failing, func() {})
	defer restart(t, admin, func() {})
	newNode(t, "kubecon-fails")
	usableNode(t, "kubecon-fails")
	name := func(i int) string { return fmt.Sprintf("tried-%d", i) }
	inParallel(pods, func(i int) { makePod(t, "kubecon-fails", name(i)) })
	addressesOf(t, name, pods)
	inParallel(pods, func(i int) { deletePod(t, name(i), nil) })
	for i := range pods {
		noPod(t, name(i))
	}
	text := logs.Take()
	for what, want := range map[string]int{"pod default/tried-": 2 * pods, "node kubecon-fails: ": 2} { // run and remove, lease and status
		got := strings.Count(text, what)
		if got < want || !strings.Contains(text, errNoLuck.Error()) {
			t.Errorf("%d lines about %s, want %d in\n%s", got, what, want, text)
		}
	}
}

// firstFails lets a write pass only when it is tried again.
type firstFails struct {
	next  http.RoundTripper
	tried sync.Map
}

var errNoLuck = errors.New("no luck this time")

func (f *firstFails) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		_, again := f.tried.LoadOrStore(request.Method+request.URL.Path, true)
		if !again {
			return nil, errNoLuck
		}
	}
	return f.next.RoundTrip(request)
}

// addressesOf waits until all pods run, and returns their addresses, of which no
// two may be the same.
func addressesOf(t *testing.T, name func(int) string, pods int) (addresses []string) {
	t.Helper()
	for i := range pods {
		ip := podIn(t, v1.PodRunning, name(i)).Status.PodIP
		if slices.Contains(addresses, ip) {
			t.Errorf("%s twice in %s", ip, addresses)
		}
		addresses = append(addresses, ip)
	}
	return addresses
}

// podIn waits until a pod is in a phase.
func podIn(t *testing.T, phase v1.PodPhase, name string) *v1.Pod {
	t.Helper()
	return testkit.EventuallyIs(t, name, client.CoreV1().Pods("default").Get, func(pod *v1.Pod) bool { return pod.Status.Phase == phase })
}

func noPod(t *testing.T, name string) {
	t.Helper()
	testkit.EventuallyGone(t, name, client.CoreV1().Pods("default").Get, apierrors.IsNotFound)
}

func condition(pod *v1.Pod, kind v1.PodConditionType) v1.ConditionStatus {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}

func patchPodStatus(t *testing.T, name, patch string) {
	t.Helper()
	_, err := client.CoreV1().Pods("default").Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	testkit.Must(t, err)
}

func makePod(t testing.TB, node, name string) {
	t.Helper()
	createPod(t, node, name, func(*v1.Pod) {})
}

func createPod(t testing.TB, node, name string, change func(*v1.Pod)) {
	t.Helper()
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1.PodSpec{NodeName: node, Containers: []v1.Container{{Name: "main", Image: "example.com/none"}}},
	}
	change(pod)
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// removePod leaves nothing to the next run of a test: it does not wait for a
// kubelet.
func removePod(t testing.TB, name string) {
	t.Helper()
	deletePod(t, name, ptr.To[int64](0))
}

func deletePod(t testing.TB, name string, grace *int64) {
	t.Helper()
	err := client.CoreV1().Pods("default").Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: grace})
	if err != nil { // in any goroutine
		t.Error(err)
	}
}
