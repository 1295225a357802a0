package deploy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/guestserver"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	objectkit "wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// runScheduler runs the scheduler of a folder with the rights and the configuration of the
// folder, until the test ends. replace has the addresses of a cluster, each before the one
// in this process.
func runScheduler(t *testing.T, variant string, names map[string]string, replace ...string) {
	t.Helper()
	installScheduler(t, variant)
	runConfig(t, kubeconfigOf(t, schedulerUser, schedulerGroups...), configOf(t, mustRender(t, "scheduler/"+variant)), names, replace...)
}

// runConfig runs a scheduler with a configuration until the test ends.
func runConfig(t *testing.T, kubeconfig, text string, names map[string]string, replace ...string) {
	t.Helper()
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("no %s in\n%s", replace[i], text)
		}
	}
	config, err := kubescheduler.Read([]byte(strings.NewReplacer(replace...).Replace(text)))
	testkit.Must(t, err)
	ready := make(chan struct{})
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		ended <- kubescheduler.Run(ctx, kubescheduler.Options{
			Kubeconfig: kubeconfig,
			Config:     config,
			Transport:  guestserver.Names(names),
			Decisions:  1 << 20,
			Ready:      func() { close(ready) },
		})
	}()
	t.Cleanup(func() {
		cancel()
		testkit.Must(t, testkit.EventuallyReceives(t, "the scheduler ends", ended))
	})
	testkit.Eventually(t, "the scheduler knows the cluster", func(context.Context) error {
		select {
		case <-ready:
			return nil
		case err := <-ended:
			ended <- err
			t.Fatal(err)
			return err
		default:
			return errors.New("not yet")
		}
	})
}

// serve serves until the test ends, and returns host and port.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// serveExtender serves an extender, over TLS where it is configured, until the test ends.
func serveExtender(t *testing.T, c *extender.Config) *extender.Running {
	t.Helper()
	e, err := extender.Start(extender.Options{Config: c, Logger: logr.Discard()})
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, e.Stop()) })
	return e
}

func TestSchedulerSchedulesWithJustItsRights(t *testing.T) {
	variants := map[string]func(t *testing.T){
		"native": func(t *testing.T) { runScheduler(t, "native", nil) },
		"extender": func(t *testing.T) {
			address := serveExtender(t, extenderConfig(t, configOf(t, mustRender(t, "extender/base")))).Address
			runScheduler(t, "extender", nil, "http://extender:8000/", "http://"+address+"/")
		},
		"extender-tls": func(t *testing.T) {
			authority, files := pki.New(t), t.TempDir()
			authority.Issue(t, filepath.Join(files, "tls.crt"), filepath.Join(files, "tls.key"), time.Hour)
			ca := testkit.ReadFile(t, authority.File)
			testkit.Must(t, os.WriteFile(filepath.Join(files, "ca.crt"), ca, 0o600))
			c := extenderOf(t, mustRender(t, "extender/tls"))
			for _, file := range []*string{&c.TLS.CertFile, &c.TLS.KeyFile, &c.TLS.ClientCAFile} {
				*file = strings.Replace(*file, "/etc/extender-tls", files, 1)
			}
			address := serveExtender(t, c).Address
			runScheduler(t, "extender-tls", nil, "https://extender:8000/", "https://"+address+"/", "/etc/scheduler-tls", files)
		},
		"sidecar": func(t *testing.T) {
			address := serveExtender(t, sidecarConfig(t, mustRender(t, "scheduler/sidecar"))).Address
			runScheduler(t, "sidecar", nil, "http://localhost:8888/", "http://"+address+"/")
		},
		"wasm": func(t *testing.T) {
			runScheduler(t, "wasm", map[string]string{"static-webserver": serve(t, guestserver.Handler())})
		},
	}
	for variant, run := range variants {
		t.Run(variant, func(t *testing.T) {
			for _, node := range []string{"other", "kubecon-1", "rack-1", "rack-2"} {
				addNode(t, node, 10)
			}
			run(t)
			addPod(t, podFor("kubecon", "kubecon-.*"))
			waitForNode(t, "kubecon", "kubecon-1")
			addPod(t, podFor("cncf", "cncf-.*"))
			waitForEvent(t, "cncf", "FailedScheduling", "0/4 nodes are available")
			waitForEvent(t, "kubecon", "Scheduled", "to kubecon-1")
			waitForCondition(t, "cncf")
			for _, number := range []string{"1", "2"} { // else each would be there by chance
				pod := podFor("prefers-"+number, "^rack-")
				pod.Annotations[regex.PreferAnnotation] = "-" + number + "$"
				addPod(t, pod)
				waitForNode(t, pod.Name, "rack-"+number)
			}
		})
	}
}

// TestSchedulerHasTheRightsForVolumesDevicesAndPreemption binds a volume that is there, and names the node for one that is to
// be made; reserves devices that pods ask for by a claim and as for CPU; and deletes a pod.
func TestSchedulerHasTheRightsForVolumesDevicesAndPreemption(t *testing.T) {
	text := testkit.ReadFile(t, "testdata/rights.yaml")
	for _, object := range decode(t, string(text)) {
		in, err := resourceOf(object.GroupVersionKind())
		testkit.Must(t, err)
		_, err = in.Namespace(object.GetNamespace()).Create(t.Context(), object, metav1.CreateOptions{})
		testkit.Must(t, err)
		t.Cleanup(func() {
			_ = in.Namespace(object.GetNamespace()).Delete(context.Background(), object.GetName(), metav1.DeleteOptions{})
		})
	}
	t.Cleanup(func() { removeClaims(t) })
	runScheduler(t, "native", nil)

	for _, claim := range []string{"there", "to-be-made"} {
		pod := podFor("with-"+claim, "^kubecon-1$")
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
		addPod(t, pod)
	}
	core := client.CoreV1()
	testkit.Eventually(t, "the volume has its claim, and the other claim its node", func(ctx context.Context) error {
		volume, volumeErr := core.PersistentVolumes().Get(ctx, "there", metav1.GetOptions{})
		claim, claimErr := core.PersistentVolumeClaims("default").Get(ctx, "to-be-made", metav1.GetOptions{})
		if err := errors.Join(volumeErr, claimErr); err != nil {
			return err
		}
		if volume.Spec.ClaimRef == nil || volume.Spec.ClaimRef.Name != "there" || claim.Annotations["volume.kubernetes.io/selected-node"] != "kubecon-1" {
			return fmt.Errorf("they are %+v and %+v", volume, claim)
		}
		return nil
	})

	modest, urgent := podFor("modest", "^rack-1$"), podFor("urgent", "^rack-1$")
	addPod(t, modest)
	waitForNode(t, "modest", "rack-1")
	urgent.Spec.PriorityClassName = "system-cluster-critical"
	addPod(t, urgent)
	waitForNode(t, "urgent", "rack-1")
	if _, err := core.Pods("default").Get(t.Context(), "modest", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the other pod is still there: %v", err)
	}

	claiming, counting := podFor("claiming", "^kubecon-"), podFor("counting", "^kubecon-")
	claiming.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("gpu")}}
	addPod(t, claiming)
	waitForNode(t, "claiming", "kubecon-2")
	server, err := client.Discovery().ServerVersion()
	testkit.Must(t, err)
	if server.Minor < "36" {
		t.Log("devices cannot be asked for as for CPU before Kubernetes 1.36")
		return
	}
	one := corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
	counting.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: one, Limits: one}
	addPod(t, counting)
	waitForNode(t, "counting", "kubecon-2")
}

// removeClaims does what a controller would do once their pods are gone, and may do at the same time.
func removeClaims(t *testing.T) {
	t.Helper()
	claims := client.ResourceV1().ResourceClaims("default")
	list, err := claims.List(context.Background(), metav1.ListOptions{})
	testkit.Must(t, err)
	for _, claim := range list.Items {
		_, err := claims.Patch(context.Background(), claim.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err == nil {
			err = claims.Delete(context.Background(), claim.Name, metav1.DeleteOptions{})
		}
		if !apierrors.IsNotFound(err) {
			testkit.Must(t, err)
		}
	}
}

// podFor is a pod for the custom scheduler. It is gone as soon as deleted.
func podFor(name, pattern string) *corev1.Pod {
	now := int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{regex.Annotation: pattern}},
		Spec: corev1.PodSpec{
			SchedulerName:                 "custom-scheduler",
			TerminationGracePeriodSeconds: &now,
			Containers:                    []corev1.Container{{Name: "main", Image: "registry.example/none"}},
		},
	}
}

func addPod(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	pods := client.CoreV1().Pods(pod.Namespace)
	objectkit.Create(t, pods, pod)
	t.Cleanup(func() { _ = pods.Delete(context.Background(), pod.Name, metav1.DeleteOptions{}) })
}

// addNode adds a node that takes a number of pods which ask for nothing. The pods of the
// Deployments, which controllers of some simulators make, ask for CPU.
func addNode(t *testing.T, name string, pods int64) {
	t.Helper()
	addNodeWith(t, name, corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI)})
}

func addNodeWith(t *testing.T, name string, room corev1.ResourceList) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Capacity: room, Allocatable: room}}
	objectkit.Create(t, client.CoreV1().Nodes(), node)
	t.Cleanup(func() { _ = client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

func waitForNode(t *testing.T, pod, node string) {
	t.Helper()
	objectkit.WaitForPod(t, client, "default", pod, " is on "+node, func(p *corev1.Pod) bool { return p.Spec.NodeName == node })
}

func waitForCondition(t *testing.T, pod string) {
	t.Helper()
	objectkit.WaitForPod(t, client, "default", pod, " is unschedulable", func(p *corev1.Pod) bool {
		_, c := podutil.GetPodCondition(&p.Status, corev1.PodScheduled)
		return c != nil && c.Reason == corev1.PodReasonUnschedulable
	})
}

func waitForEvent(t *testing.T, pod, reason, text string) {
	t.Helper()
	testkit.Eventually(t, "event "+reason+" of pod "+pod, func(ctx context.Context) error {
		events, err := client.CoreV1().Events("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.InvolvedObject.Name == pod && e.Reason == reason && strings.Contains(e.Message, text) {
				return nil
			}
		}
		return fmt.Errorf("not among %d events", len(events.Items))
	})
}

// asProgram makes the test binary act as bin/scheduler.
const asProgram = "TEST_AS_SCHEDULER"

// TestSchedulerHandsOverToItsReplica runs two replicas as programs, with the rights and the lease of
// deploy/scheduler/native, and stops the one that leads.
func TestSchedulerHandsOverToItsReplica(t *testing.T) {
	addNode(t, "kubecon-1", 10)
	for name, stop := range map[string]syscall.Signal{"is-stopped": syscall.SIGTERM, "is-killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			installScheduler(t, "native")
			leader, _ := startReplica(t)
			addPod(t, podFor(name+"-before", "kubecon-.*"))
			waitForNode(t, name+"-before", "kubecon-1")
			_, log := startReplica(t)
			testkit.EventuallyHas(t, "the replica waits for the lease", log.String, "Attempting to acquire leader lease")
			testkit.Must(t, leader.Process.Signal(stop))
			_ = leader.Wait() // an error by the signal
			addPod(t, podFor(name+"-after", "kubecon-.*"))
			waitForNode(t, name+"-after", "kubecon-1")
		})
	}
}

// startReplica runs a scheduler as a program until the test ends.
func startReplica(t *testing.T) (*exec.Cmd, *testkit.Log) {
	t.Helper()
	const lease, connection = "leaderElection: # the Role custom-scheduler allows this lease\n", "clientConnection: {"
	config := configOf(t, mustRender(t, "scheduler/native"))
	if !strings.Contains(config, lease) || !strings.Contains(config, connection) {
		t.Fatalf("no %q or %q in\n%s", lease, connection, config)
	}
	config = strings.Replace(config, lease, lease+"  leaseDuration: 3s\n  renewDeadline: 2s\n  retryPeriod: 500ms\n", 1)
	config = strings.Replace(config, connection, connection+"kubeconfig: "+kubeconfigOf(t, schedulerUser, schedulerGroups...)+", ", 1)
	file := testkit.TempFile(t, "config.yaml", config)
	self, err := os.Executable()
	testkit.Must(t, err)
	log := &testkit.Log{}
	replica := exec.Command(self, "--config="+file, "--secure-port=0")
	replica.Env = append(os.Environ(), asProgram+"=yes")
	replica.Stderr = log
	testkit.Must(t, replica.Start())
	t.Cleanup(func() {
		_ = replica.Process.Kill()
		_ = replica.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return replica, log
}
