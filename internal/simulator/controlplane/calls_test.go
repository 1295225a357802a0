package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

// atOnceTime is what an answer may take that waits for no network, on a busy machine.
const atOnceTime = time.Minute

// realMachine listens where objects of a test point to, as a machine of a real
// cluster would, and fails the test if anybody connects to it.
func realMachine(t *testing.T) (port int32, url string) {
	t.Helper()
	var mu sync.Mutex
	var met []string
	machine := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		met = append(met, r.Method+" "+r.URL.Path)
		fmt.Fprintln(w, "a real machine answers")
	}))
	connections := 0
	machine.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if state == http.StateNew {
			connections++
		}
	}
	machine.StartTLS()
	t.Cleanup(func() {
		machine.Close()
		if connections > 0 {
			t.Errorf("%d connections to a real machine, which was asked %q", connections, met)
		}
	})
	return int32(machine.Listener.Addr().(*net.TCPAddr).Port), machine.URL
}

// create makes an object of a manifest at a path of the API, until the test ends.
func create(t *testing.T, api rest.Interface, path, manifest string) {
	t.Helper()
	made := objects.Post(t, api, path, manifest)
	t.Cleanup(func() {
		testkit.Must(t, api.Delete().AbsPath(path, made.Name).Body(&atOnce).Do(context.Background()).Error())
	})
}

// makeReal makes objects that a copy of a real cluster has: a node, and a pod that runs
// on it. 192.0.2.1 is a documentation address.
func makeReal(t *testing.T, client kubernetes.Interface, kubelet int32) {
	t.Helper()
	api := client.CoreV1().RESTClient()
	create(t, api, "/api/v1/nodes", fmt.Sprintf(`
metadata: {name: localhost}
status: {addresses: [{type: InternalIP, address: 127.0.0.1}, {type: Hostname, address: localhost}], daemonEndpoints: {kubeletEndpoint: {Port: %d}}}`, kubelet))
	create(t, api, "/api/v1/namespaces/default/pods", "metadata: {name: web}\nspec: {nodeName: localhost, containers: [{name: main, image: example.com/none}]}")
	status := []byte(`{"status": {"phase": "Running", "podIP": "192.0.2.1", "podIPs": [{"ip": "192.0.2.1"}]}}`)
	_, err := client.CoreV1().Pods("default").Patch(t.Context(), "web", types.MergePatchType, status, metav1.PatchOptions{}, "status")
	testkit.Must(t, err)
}

func TestRequestsToPodsAndNodesAnswerThatTheyAreSimulated(t *testing.T) {
	config := sharedCluster.AdminConfig()
	client := clientOf(t, config)
	kubelet, _ := realMachine(t)
	makeReal(t, client, kubelet)
	pods := client.CoreV1().RESTClient()
	on := func(subresource string) *rest.Request {
		return pods.Post().Namespace("default").Resource("pods").Name("web").SubResource(subresource)
	}
	exec := &corev1.PodExecOptions{Command: []string{"true"}, Stdout: true}
	for name, ask := range map[string]func(context.Context) error{
		"logs": func(ctx context.Context) error {
			return answered(client.CoreV1().Pods("default").GetLogs("web", &corev1.PodLogOptions{}).Stream(ctx))
		},
		"exec over SPDY": func(ctx context.Context) error {
			executor, err := remotecommand.NewSPDYExecutor(config, http.MethodPost, on("exec").VersionedParams(exec, scheme.ParameterCodec).URL())
			return errors.Join(err, executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard}))
		},
		"exec over a web socket": func(ctx context.Context) error {
			executor, err := remotecommand.NewWebSocketExecutor(config, http.MethodGet, on("exec").VersionedParams(exec, scheme.ParameterCodec).URL().String())
			return errors.Join(err, executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard}))
		},
		"port-forward": func(context.Context) error { return forward(config, on("portforward").URL()) },
		"proxy of a pod's port": func(ctx context.Context) error {
			return answered(pods.Get().AbsPath("/api/v1/namespaces/default/pods/https:web:8443/proxy/healthz").Stream(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), atOnceTime)
			defer cancel()
			testkit.ErrorHas(t, ask(ctx), simulated)
		})
	}
}

// answered makes an error of an answer that should not be.
func answered(answer io.ReadCloser, err error) error {
	if err != nil {
		return err
	}
	defer answer.Close()
	said, err := io.ReadAll(answer)
	return errors.Join(fmt.Errorf("answered %q", said), err)
}

func forward(config *rest.Config, to *url.URL) error {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	time.AfterFunc(atOnceTime, func() { close(stop) })
	forwarder, err := portforward.New(spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, to),
		[]string{"0:80"}, stop, make(chan struct{}), io.Discard, io.Discard)
	if err != nil {
		return err
	}
	return forwarder.ForwardPorts()
}

func TestWebhooksAreNotCalledAndBlockNothing(t *testing.T) {
	_, hook := realMachine(t)
	client := clientOf(t, sharedCluster.AdminConfig())
	for _, kind := range []string{"mutating", "validating"} {
		create(t, client.CoreV1().RESTClient(), "/apis/admissionregistration.k8s.io/v1/"+kind+"webhookconfigurations", `
metadata: {name: imported}
webhooks:
- {name: hook.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "`+hook+`"},
  rules: [{operations: ["*"], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]}`)
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "admitted"}}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); { // they would be called some moments after they were made
		_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		testkit.Must(t, err)
	}
}

// simulated is in what is said of something that is not called.
const simulated = "is not called: the cluster is simulated"

func TestWhatConvertsCustomResourcesIsNotCalled(t *testing.T) {
	t.Parallel() // after the test that counts watch caches
	_, hook := realMachine(t)
	api := clientOf(t, sharedCluster.AdminConfig()).CoreV1().RESTClient()
	create(t, api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `
metadata: {name: hulls.calls.example.com}
spec:
  {group: calls.example.com, scope: Cluster, names: {plural: hulls, kind: Hull},
  versions: [{name: v1, served: true, storage: true, schema: &any {openAPIV3Schema: {type: object}}}, {name: v2, served: true, storage: false, schema: *any}],
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "`+hook+`"}}}}`)
	testkit.Eventually(t, "an object of the new kind", func(ctx context.Context) error {
		return api.Post().AbsPath("/apis/calls.example.com/v1/hulls").SetHeader("Content-Type", "application/json").
			Body([]byte(`{"apiVersion": "calls.example.com/v1", "kind": "Hull", "metadata": {"name": "stored"}}`)).Do(ctx).Error()
	})
	ctx, cancel := context.WithTimeout(t.Context(), atOnceTime)
	defer cancel()
	err := api.Get().AbsPath("/apis/calls.example.com/v2/hulls/stored").Do(ctx).Error()
	testkit.ErrorHas(t, err, simulated)
}

func TestAnAPIOfAServiceIsNotCalled(t *testing.T) {
	port, _ := realMachine(t)
	api := clientOf(t, sharedCluster.AdminConfig()).CoreV1().RESTClient()
	create(t, api, "/api/v1/namespaces/default/services", "metadata: {name: metrics}\nspec: {type: ExternalName, externalName: localhost}")
	create(t, api, "/apis/apiregistration.k8s.io/v1/apiservices", fmt.Sprintf(`
metadata: {name: v1.served.example.com}
spec: {group: served.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: {namespace: default, name: metrics, port: %d}}`, port))
	testkit.Eventually(t, "the API says why it is not there", func(ctx context.Context) error {
		said, err := api.Get().SetHeader("Accept", "application/json").AbsPath("/apis/apiregistration.k8s.io/v1/apiservices/v1.served.example.com").DoRaw(ctx)
		if err == nil && !strings.Contains(string(said), simulated) {
			return fmt.Errorf("it says %s", said)
		}
		return err
	})
}

func TestOtherProcessesOfThisMachineAreNotAskedHowTheyAre(t *testing.T) {
	answer, err := clientOf(t, sharedCluster.AdminConfig()).CoreV1().RESTClient().Get().AbsPath("/api/v1/componentstatuses").DoRaw(t.Context())
	if !apierrors.IsNotFound(err) {
		t.Errorf("componentstatuses: %s, %v", answer, err)
	}
}
