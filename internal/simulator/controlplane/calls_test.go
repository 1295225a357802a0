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

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
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

func dynamicClient(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(sharedCluster.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// makeReal makes objects that a copy of a real cluster has: a node, a pod that runs
// on it, and a service with an endpoint. 192.0.2.1 is a documentation address.
func makeReal(t *testing.T, client kubernetes.Interface, kubelet int32) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "localhost"}}
	pod := podOn("localhost", "web")
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	_, nodeErr := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	_, podErr := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	_, serviceErr := client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{})
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(client.CoreV1().Services("default").Delete(ctx, "web", metav1.DeleteOptions{}),
			client.CoreV1().Pods("default").Delete(ctx, "web", atOnce), client.CoreV1().Nodes().Delete(ctx, "localhost", metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}, {Type: corev1.NodeHostName, Address: "localhost"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = kubelet
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "192.0.2.1", PodIPs: []corev1.PodIP{{IP: "192.0.2.1"}}}
	_, nodeStatusErr := client.CoreV1().Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{})
	_, podStatusErr := client.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	if err := errors.Join(nodeErr, podErr, serviceErr, nodeStatusErr, podStatusErr); err != nil {
		t.Fatal(err)
	}
}

func TestRequestsToPodsNodesAndServicesAnswerThatTheyAreSimulated(t *testing.T) {
	config := sharedCluster.AdminConfig()
	client := clientOf(t, config)
	kubelet, _ := realMachine(t)
	makeReal(t, client, kubelet)
	pods := client.CoreV1().RESTClient()
	on := func(subresource string) *rest.Request {
		return pods.Post().Namespace("default").Resource("pods").Name("web").SubResource(subresource)
	}
	get := func(path string) func(context.Context) error {
		return func(ctx context.Context) error { return answered(pods.Get().AbsPath("/api/v1/" + path).Stream(ctx)) }
	}
	exec := &corev1.PodExecOptions{Command: []string{"true"}, Stdout: true}
	attach := &corev1.PodAttachOptions{Stdout: true}
	for _, tt := range []struct {
		name, about string
		ask         func(context.Context) error
	}{
		{"logs", "pod default/web", func(ctx context.Context) error {
			return answered(client.CoreV1().Pods("default").GetLogs("web", &corev1.PodLogOptions{}).Stream(ctx))
		}},
		{"exec over SPDY", "pod default/web", func(ctx context.Context) error {
			return overSPDY(ctx, config, on("exec").VersionedParams(exec, scheme.ParameterCodec).URL())
		}},
		{"exec over a web socket", "pod default/web", func(ctx context.Context) error {
			return overWebSocket(ctx, config, on("exec").VersionedParams(exec, scheme.ParameterCodec).URL())
		}},
		{"attach", "pod default/web", func(ctx context.Context) error {
			return overSPDY(ctx, config, on("attach").VersionedParams(attach, scheme.ParameterCodec).URL())
		}},
		{"port-forward", "pod default/web", func(context.Context) error { return forward(config, on("portforward").URL()) }},
		{"proxy of a pod", "pod default/web", get("namespaces/default/pods/web/proxy/")},
		{"proxy of a pod's port", "pod default/web", get("namespaces/default/pods/https:web:8443/proxy/healthz")},
		{"proxy of a service", "service default/web", get("namespaces/default/services/web:80/proxy/")},
		{"proxy of a node", "node localhost", get("nodes/localhost/proxy/pods")},
		{"proxy of a node's port", "node localhost", get(fmt.Sprintf("nodes/https:localhost:%d/proxy/", kubelet))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eventually.Succeeds(t, "it has heard of the "+tt.about, func(ctx context.Context) error {
				if err := tt.ask(ctx); apierrors.IsNotFound(err) {
					return err
				}
				return nil
			})
			ctx, cancel := context.WithTimeout(t.Context(), atOnceTime)
			defer cancel()
			began := time.Now()
			err := tt.ask(ctx)
			if err == nil || !strings.Contains(err.Error(), tt.about+" is simulated: ") {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
		})
	}
	if err := get("namespaces/default/pods/absent/log")(t.Context()); !apierrors.IsNotFound(err) {
		t.Errorf("the log of no pod: %v", err)
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

func overSPDY(ctx context.Context, config *rest.Config, to *url.URL) error {
	executor, err := remotecommand.NewSPDYExecutor(config, http.MethodPost, to)
	if err != nil {
		return err
	}
	return executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard})
}

func overWebSocket(ctx context.Context, config *rest.Config, to *url.URL) error {
	executor, err := remotecommand.NewWebSocketExecutor(config, http.MethodGet, to.String())
	if err != nil {
		return err
	}
	return executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard})
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

// warned collects the warnings that an API server sends along.
type warned struct {
	mu   sync.Mutex
	said []string
}

func (w *warned) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

func TestWebhooksAreNotCalledAndBlockNothing(t *testing.T) {
	_, hook := realMachine(t)
	config, warnings := sharedCluster.AdminConfig(), &warned{}
	config.WarningHandler = warnings
	client := clientOf(t, config)
	rules := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.OperationAll},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	by := admissionv1.WebhookClientConfig{URL: &hook}
	none := ptr.To(admissionv1.SideEffectClassNone)
	mutating, validating := client.AdmissionregistrationV1().MutatingWebhookConfigurations(), client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, mutatingErr := mutating.Create(t.Context(), &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "imported"},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "mutate.example.com", Rules: rules, ClientConfig: by, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	_, validatingErr := validating.Create(t.Context(), &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "imported"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "validate.example.com", Rules: rules, ClientConfig: by, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	if err := errors.Join(mutatingErr, validatingErr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(mutating.Delete(context.Background(), "imported", metav1.DeleteOptions{}),
			validating.Delete(context.Background(), "imported", metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	said := strings.Join(warnings.said, "\n")
	if strings.Count(said, "its webhooks are not called: ") != 2 {
		t.Errorf("who makes webhooks gets the warnings %q", said)
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "admitted"}}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); { // they would be called some moments after they were made
		_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// simulated is in what is said of something that is not called.
const simulated = "is not called: the cluster is simulated"

func TestWhatConvertsCustomResourcesIsNotCalled(t *testing.T) {
	t.Parallel() // after the test that counts watch caches
	_, hook := realMachine(t)
	client := dynamicClient(t)
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	version := func(name string, storage bool) map[string]any {
		return map[string]any{"name": name, "served": true, "storage": storage, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}
	}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "hulls.calls.example.com"},
		"spec": map[string]any{
			"group": "calls.example.com", "scope": "Cluster",
			"names":    map[string]any{"plural": "hulls", "kind": "Hull"},
			"versions": []any{version("v1", true), version("v2", false)},
			"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": hook},
			}},
		},
	}}
	if _, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := definitions.Delete(context.Background(), definition.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	old, preferred := client.Resource(schema.GroupVersionResource{Group: "calls.example.com", Version: "v1", Resource: "hulls"}),
		client.Resource(schema.GroupVersionResource{Group: "calls.example.com", Version: "v2", Resource: "hulls"})
	hull := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "calls.example.com/v1", "kind": "Hull", "metadata": map[string]any{"name": "stored"},
	}}
	eventually.Succeeds(t, "an object of the new kind", func(ctx context.Context) error {
		_, err := old.Create(ctx, hull, metav1.CreateOptions{})
		return err
	})
	ctx, cancel := context.WithTimeout(t.Context(), atOnceTime)
	defer cancel()
	got, err := preferred.Get(ctx, "stored", metav1.GetOptions{})
	if err == nil || !strings.Contains(err.Error(), simulated) {
		t.Errorf("in the other version it is %v, %v", got, err)
	}
}

func TestAnAPIOfAServiceIsNotCalled(t *testing.T) {
	port, _ := realMachine(t)
	client, services := dynamicClient(t), clientOf(t, sharedCluster.AdminConfig()).CoreV1().Services("default")
	apis := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "metrics"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}}
	if _, err := services.Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	api := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": "v1.served.example.com"},
		"spec": map[string]any{
			"group": "served.example.com", "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "default", "name": "metrics", "port": int64(port)},
		},
	}}
	if _, err := apis.Create(t.Context(), api, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(apis.Delete(context.Background(), api.GetName(), metav1.DeleteOptions{}),
			services.Delete(context.Background(), service.Name, metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	eventually.Succeeds(t, "the API says why it is not there", func(ctx context.Context) error {
		got, err := apis.Get(ctx, api.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
		said := fmt.Sprint(conditions)
		if !strings.Contains(said, simulated) {
			return fmt.Errorf("it says %s", said)
		}
		return nil
	})
}

func TestOtherProcessesOfThisMachineAreNotAskedHowTheyAre(t *testing.T) {
	answer, err := clientOf(t, sharedCluster.AdminConfig()).CoreV1().RESTClient().Get().AbsPath("/api/v1/componentstatuses").DoRaw(t.Context())
	if !apierrors.IsNotFound(err) {
		t.Errorf("componentstatuses: %s, %v", answer, err)
	}
}

// TestNetworkIsTakenFromWhatCallsNodesAndPods looks below the message for a client that
// asks is answered with.
func TestNetworkIsTakenFromWhatCallsNodesAndPods(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	completed, err := apiServerOptions(sharedCluster.ca, sharedCluster.etcd.endpoint, listener).Complete(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config, err := newConfig(completed)
	if err != nil {
		t.Fatal(err)
	}
	kubelets, err := config.KubeAPIs.Extra.KubeletClientConfig.Lookup(egressselector.Cluster.AsNetworkContext())
	if err != nil {
		t.Fatal(err)
	}
	for what, dial := range map[string]utilnet.DialFunc{"kubelets": kubelets, "proxies": config.KubeAPIs.ControlPlane.ProxyTransport.DialContext} {
		_, err := dial(t.Context(), "tcp", listener.Addr().String())
		if err == nil || !strings.Contains(err.Error(), simulated) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
