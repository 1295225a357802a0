package engine

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/extenders"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// An extender binds real pods, by their UIDs.
func TestExtenderIsSentNoBindAndThePodIsBoundInTheCopy(t *testing.T) {
	const preempts = "priorityClasses: [{metadata: {name: high}, value: 1000}]\n"
	for name, tt := range map[string]struct{ more, pod string }{
		"any":                  {"", pod("a", "", "1", "")},
		"an ignorable one":     {", ignorable: true", pod("a", "", "1", "")},
		"by names":             {", nodeCacheCapable: true", pod("a", "", "1", "")},
		"one of its resources": {`, managedResources: [{name: example.com/gpu}]`, strings.Replace(pod("a", "", "1", ""), "resources: {", `resources: {limits: {example.com/gpu: "1"}, `, 1)},
		"one that preempts":    {"", pod("a", "", "1", "priorityClassName: high,") + pod("b", "n1", "2", "")},
	} {
		t.Run(name, func(t *testing.T) {
			extender := extenders.Start(t, "filter", "prioritize", "preempt")
			nodes := strings.ReplaceAll("nodes:\n"+node("n1", "2"), "pods: ", `example.com/gpu: "2", pods: `)
			e := over(t, read(t, preempts+nodes+"pods:\n"+tt.pod), func(o *Options) {
				o.Config, _ = kubescheduler.Read([]byte(extender.Config(tt.more)))
			})
			got := outcomes(t, e)
			if !strings.Contains(got, "a: Scheduled n1") || extender.Asked("filter") == 0 || strings.Contains(tt.pod, "high") != (extender.Asked("preempt") > 0) {
				t.Errorf("got %s, with %d requests to filter, %d to preempt", got, extender.Asked("filter"), extender.Asked("preempt"))
			}
			basis := e.Describe()
			want := "bind by extender " + extender.URL + " (the copy binds)"
			if !strings.Contains(basis.String(), want) {
				t.Errorf("got %q, want %q", basis.String(), want)
			}
		})
	}
}

// TestExtenderThatDoesNotAnswerIsSaid: kube-scheduler passes over one that is ignorable.
func TestExtenderThatDoesNotAnswerIsSaid(t *testing.T) {
	for _, more := range []string{"", ", ignorable: true"} {
		gone := httptest.NewServer(nil)
		gone.Close()
		e := over(t, read(t, "nodes:\n"+node("n1", "2")+node("n2", "2")+"pods:\n"+pod("a", "", "1", "")), func(o *Options) {
			o.Config, _ = kubescheduler.Read([]byte(unmodified + `extenders: [{urlPrefix: "` + strings.Replace(gone.URL, "://", "://me:secret@", 1) + `", filterVerb: filter` + more + "}]\n"))
		})
		outcomes(t, e)
		got := strings.Join(e.Scheduler.Unanswered(), "")
		if !strings.HasPrefix(got, "extender "+strings.Replace(gone.URL, "://", "://xxxxx@", 1)+" did not answer: dial tcp ") {
			t.Errorf("%s: got %q", more, got)
		}
	}
}

// writer is a plugin that writes by all that its handle has.
type writer struct{ handle fwk.Handle }

func (writer) Name() string { return "Writer" }

func (w writer) Filter(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.NodeInfo) *fwk.Status {
	own, err := kubernetes.NewForConfig(w.handle.KubeConfig())
	if err != nil {
		return fwk.AsStatus(err)
	}
	for key, client := range map[string]kubernetes.Interface{"clientset": w.handle.ClientSet(), "kubeconfig": own} {
		patch := []byte(`{"metadata":{"annotations":{"` + key + `":"was-here"}}}`)
		if _, err := client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fwk.AsStatus(err)
		}
		event := &v1.Event{ObjectMeta: metav1.ObjectMeta{Name: key, Namespace: pod.Namespace}}
		if _, err := client.CoreV1().Events(pod.Namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
			return fwk.AsStatus(err)
		}
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: key, Namespace: pod.Namespace}}
		if _, err := client.CoordinationV1().Leases(pod.Namespace).Create(ctx, lease, metav1.CreateOptions{}); err == nil {
			return fwk.NewStatus(fwk.Error, "there are leases")
		}
	}
	w.handle.EventRecorder().Eventf(pod, nil, v1.EventTypeNormal, "Written", "Write", "unread")
	return nil
}

// A plugin's handle leads to the copy, whatever of it the plugin takes.
func TestPluginWritesToTheCopy(t *testing.T) {
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s", r.Method, r.URL) }))
	t.Cleanup(outside.Close)
	kubeconfig := t.TempDir() + "/config" // that of the configuration, and of the environment
	text := "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: " + outside.URL + "}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u}]\n"
	testkit.Must(t, os.WriteFile(kubeconfig, []byte(text), 0o600))
	t.Setenv("KUBECONFIG", kubeconfig)
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+"pods:\n"+pod("a", "", "1", "")), func(o *Options) {
		o.Config, _ = kubescheduler.Read([]byte(unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: Writer}]}}}]\n" +
			"clientConnection: {kubeconfig: " + kubeconfig + "}\nleaderElection: {leaderElect: true}\n"))
		o.Plugins = frameworkruntime.Registry{"Writer": func(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			return writer{handle}, nil
		}}
	})
	tried := outcomes(t, e)
	if tried != "a: Scheduled n1" {
		t.Error(tried)
	}
	got := cluster.Get[*v1.Pod](e.Cluster, "default", "a").Annotations
	if got["clientset"] == "" || got["kubeconfig"] == "" {
		t.Errorf("the pod in the copy has %v", got)
	}
}

// What a plugin starts ends with the engine, of which a question with several runs makes several.
func TestContextOfAPluginEndsWithTheEngine(t *testing.T) {
	var of context.Context
	config, err := kubescheduler.Read([]byte(unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: Writer}]}}}]\n"))
	testkit.Must(t, err)
	e, err := New(t.Context(), Options{Config: config, Cluster: read(t, "nodes:\n"+node("n1", "2")), Plugins: frameworkruntime.Registry{
		"Writer": func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			of = ctx
			return writer{handle}, nil
		},
	}})
	testkit.Must(t, err)
	before := of.Err()
	e.Close()
	if before != nil || of.Err() == nil {
		t.Errorf("got %v before and %v after it was closed", before, of.Err())
	}
}

// A guest is fetched by GET.
func TestGuestIsOnlyRead(t *testing.T) {
	guest, err := os.ReadFile("../../../static/regex_v2.wasm")
	testkit.Must(t, err)
	var fetched atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetched.Add(1)
		if r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		_, _ = w.Write(guest)
	}))
	t.Cleanup(server.Close)
	e := over(t, read(t, "nodes:\n"+node("n1", "2")+"pods:\n"+pod("a", "", "1", "")), func(o *Options) {
		o.Config, _ = kubescheduler.Read([]byte(unmodified + "profiles:\n- plugins: {multiPoint: {enabled: [{name: Guest}]}}\n  pluginConfig: [{name: Guest, args: {guestURL: '" +
			server.URL + "/guest.wasm'}}]\n"))
	})
	got := outcomes(t, e)
	if got != "a: Scheduled n1" {
		t.Error(got)
	}
	if fetched.Load() == 0 {
		t.Error("no request")
	}
}

// cancelling is a Permit plugin that permits no pod at once, and ends the run at the pod that is called b.
type cancelling struct {
	cancel     func()
	unreserved chan string
}

func (cancelling) Name() string { return "Cancelling" }

func (c cancelling) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	if pod.Name == "b" {
		c.cancel()
	}
	return fwk.NewStatus(fwk.Wait), time.Hour
}

func (cancelling) Reserve(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status { return nil }

func (c cancelling) Unreserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) {
	c.unreserved <- pod.Name
}

func TestBindingCyclesOfACancelledRunEndWithTheEngine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	made := cancelling{cancel, make(chan string, 2)}
	config, err := kubescheduler.Read([]byte(unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: Cancelling}]}}}]\n"))
	testkit.Must(t, err)
	e, err := New(t.Context(), Options{
		Config: config, Cluster: read(t, "nodes:\n"+node("n1", "2")+"pods:\n"+pod("a", "", "1", "")+pod("b", "", "1", "")),
		Plugins: frameworkruntime.Registry{"Cancelling": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return made, nil }},
	})
	testkit.Must(t, err)
	if e.Run(ctx) == nil {
		t.Fatal("it was not cancelled")
	}
	e.Close()
	for range 2 {
		testkit.EventuallyReceives(t, "a pod without its permit gives its node back", made.unreserved)
	}
}

// waiting is a plugin whose Close waits for what it has started, which ends with the context that it was made with.
type waiting struct{ ended chan struct{} }

func (waiting) Name() string { return "Waiting" }

func (w waiting) Close() error { <-w.ended; return nil }

func (waiting) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status { return nil }

func TestContextOfAPluginEndsBeforeItIsClosed(t *testing.T) {
	config, err := kubescheduler.Read([]byte(unmodified + "profiles: [{plugins: {multiPoint: {enabled: [{name: Waiting}]}}}]\n"))
	testkit.Must(t, err)
	e, err := New(t.Context(), Options{Config: config, Cluster: read(t, "nodes:\n"+node("n1", "2")), Plugins: frameworkruntime.Registry{
		"Waiting": func(ctx context.Context, _ runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
			w := waiting{make(chan struct{})}
			go func() { <-ctx.Done(); close(w.ended) }()
			return w, nil
		},
	}})
	testkit.Must(t, err)
	closed := make(chan struct{})
	go func() { e.Close(); close(closed) }()
	testkit.EventuallyReceives(t, "the engine is closed", closed)
}

func TestPodWhoseRegexNothingReadsEndsTheRun(t *testing.T) {
	s := read(t, "nodes:\n"+node("n1", "4")+"pods:\n"+pod("a", "", "1", "")+pod("b", "", "1", "")+pod("runs", "n1", "1", ""))
	for i := range s.Pods {
		s.Pods[i].Annotations = map[string]string{regex.Annotation: "^n"}
	}
	e := over(t, s, func(o *Options) { o.ReadAll = true })
	unread := (*UnreadError)(nil)
	if err := e.Run(t.Context()); !errors.As(err, &unread) || !slices.Equal(unread.Pods, []string{"default/a", "default/b"}) {
		t.Errorf("error %v", err)
	}
	if tried, ok := e.Scheduler.Attempts.Of(types.NamespacedName{Namespace: "default", Name: "b"}); ok {
		t.Errorf("b was tried: %+v", tried)
	}
}
