package kubescheduler

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/panics"
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
		testkit.Must(t, testkit.EventuallyReceives(t, "the scheduler ends", done))
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
	return testkit.TempFile(t, "kubeconfig", `{apiVersion: v1, kind: Config, current-context: c,
contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]}`)
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
	objects.Create(t, nodes, &node)
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
	objects.Create(t, pods, pod)
	t.Cleanup(func() {
		now := int64(0)
		_ = pods.Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	})
}

func waitFor(t *testing.T, name string, is func(*v1.Pod) bool) {
	t.Helper()
	objects.WaitForPod(t, client, "default", name, "", is)
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

// Others are in package command: a command's mistakes are found in the same way, but for these.
func TestMistakeThatMakingASchedulerFindsEndsARun(t *testing.T) {
	for config, want := range map[string]string{
		"profiles: [{plugins: {multiPoint: {enabled: [{name: RegexScheduling}, {name: RegexScheduling}]}}}]": "plugin \"RegexScheduling\" already registered",
		withPlugin("Wasm", "{guestURL: 'http://unknown/guest.wasm'}"):                                        "no such host",
		"profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]":                                           "initializing profiles: creating profile for scheduler name default-scheduler: at least one bind plugin is needed",
		"profiles: [{plugins: {score: {enabled: [{name: NodeName, weight: 1}]}}}]":                           "plugin \"NodeName\" does not extend ScorePlugin",
		"profiles: [{plugins: {multiPoint: {enabled: [{name: FactoryPanics}]}}}]":                            "initializing plugin \"FactoryPanics\": a plugin, or the scheduler, panicked in wasmkwokwizardry.io/regex-scheduling/internal/testkit/panics.",
	} {
		err := Run(t.Context(), Options{Config: configuration(t, config), Plugins: panics.Plugins, Transport: inProcess{}, Kubeconfig: kubeconfigWithoutServer(t)})
		if err == nil || !strings.HasPrefix(err.Error(), "scheduler: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n  %v, want %s", config, err, want)
		}
	}
}

func TestRunThatEndsLeavesNothing(t *testing.T) {
	testkit.EmptyTemp(t)
	testkit.Mark(t.Context(), t.Name(), func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		testkit.Must(t, Run(ctx, Options{
			Kubeconfig: cluster.Kubeconfig(), Transport: inProcess{}, Ready: cancel,
			Config: profileWith(t, "Wasm", "{guestURL: 'http://static-webserver/empty_filter.wasm'}"),
		}))
	})
	testkit.EventuallyEnd(t, t.Name())
}

// cluster is there for all tests.
var (
	cluster *controlplane.Cluster
	client  kubernetes.Interface
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	err := os.Chdir("..") // a folder in the root of the repository, as the guests' paths in testdata/scheduler need it
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if cluster, err = controlplane.Start(context.Background(), controlplane.Config{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer cluster.Stop()
	if client, err = kubernetes.NewForConfig(cluster.AdminConfig()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
