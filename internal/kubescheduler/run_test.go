package kubescheduler

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/regex"
	"wasmkwokwizardry.io/regex-scheduling/static"
)

// inProcess answers for a host that no resolver knows: with the guests as built,
// and with those of tests.
type inProcess struct{}

func (inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != "static-webserver" {
		return nil, &net.DNSError{Err: "no such host", Name: req.URL.Host} // as a resolver would
	}
	var f fs.File
	var err error
	if strings.HasPrefix(req.URL.Path, "/regex_") {
		f, err = static.Files.Open(req.URL.Path[1:])
	} else {
		f, err = os.Open("../testdata/guests" + req.URL.Path)
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: f, ContentLength: -1, Request: req}, nil
}

// withPlugin is a configuration with one plugin in it.
func withPlugin(plugin, args string) string {
	return fmt.Sprintf(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - plugins: {multiPoint: {enabled: [{name: %[1]s}]}}
    pluginConfig: [{name: %[1]s, args: %[2]s}]
`, plugin, args)
}

func profileWith(t *testing.T, plugin, args string) *Configuration {
	return configuration(t, withPlugin(plugin, args))
}

func configuration(t *testing.T, text string) *Configuration {
	t.Helper()
	c, err := Read([]byte(text))
	testkit.Must(t, err)
	return c
}

// start runs a scheduler until the test ends, and waits until it schedules.
func start(t *testing.T, o Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan error, 1)
	o.Ready = func() { close(ready) }
	go func() { done <- Run(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		if err := testkit.EventuallyReceives(t, "the scheduler ends", done); err != nil {
			t.Errorf("scheduler: %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-done:
		done <- nil
		t.Fatal(err)
	case <-time.After(testkit.Patience):
		t.Fatal("the scheduler did not get ready")
	}
}

func kubeconfigWithoutServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	const config = `{apiVersion: v1, kind: Config, current-context: c,
contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]}`
	testkit.Must(t, os.WriteFile(path, []byte(config), 0o600))
	return path
}

func TestSchedulersInOneProcess(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		config := configuration(t, withPlugin("RegexScheduling", "{}")+"    schedulerName: "+name+"\n")
		start(t, Options{Kubeconfig: cluster.Kubeconfig(), Config: config})
	}
	addNode(t, "shared")
	for _, name := range []string{"first", "second"} {
		pod := podFor(name, "^shared$")
		pod.Spec.SchedulerName = name
		create(t, pod)
		waitFor(t, name, isOn("shared"))
	}
}

func addNode(t *testing.T, name string, taints ...v1.Taint) {
	t.Helper()
	nodes, node := client.CoreV1().Nodes(), objects.PlainNode(name, "zone", "110")
	node.Spec.Taints = taints
	_, err := nodes.Create(t.Context(), &node, metav1.CreateOptions{})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = nodes.Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

func podFor(name, pattern string) *v1.Pod {
	pod := objects.PlainPod(name, "1m")
	pod.Annotations = map[string]string{regex.Annotation: pattern}
	return &pod
}

func create(t *testing.T, pod *v1.Pod) {
	t.Helper()
	pods, name := client.CoreV1().Pods("default"), pod.Name
	_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	testkit.Must(t, err)
	t.Cleanup(func() {
		now := int64(0)
		_ = pods.Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	})
}

func waitFor(t *testing.T, name string, is func(*v1.Pod) bool) {
	t.Helper()
	testkit.Eventually(t, "pod "+name, func(ctx context.Context) error {
		pod, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err == nil && !is(pod) {
			err = fmt.Errorf("on node %q, %v", pod.Spec.NodeName, pod.Status.Conditions)
		}
		return err
	})
}

func isOn(node string) func(*v1.Pod) bool {
	return func(p *v1.Pod) bool { return p.Spec.NodeName == node }
}

// isPending reports whether the scheduler has said that it found no node.
func isPending(p *v1.Pod) bool {
	_, c := podutil.GetPodCondition(&p.Status, v1.PodScheduled)
	return c != nil && strings.HasPrefix(c.Message, "0/")
}

func isGated(p *v1.Pod) bool {
	_, c := podutil.GetPodCondition(&p.Status, v1.PodScheduled)
	return c != nil && c.Reason == v1.PodReasonSchedulingGated
}
