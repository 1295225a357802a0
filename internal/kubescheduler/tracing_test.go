package kubescheduler

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// receiver is an OTLP receiver that keeps all spans.
type receiver struct {
	collector.UnimplementedTraceServiceServer
	mu    sync.Mutex
	spans []*tracev1.Span
}

func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// attempt is the first attempt of a pod that had a node to look at, and the spans below its span: the scheduler may see a pod
// before its node.
func (r *receiver) attempt(pod string) (attempt *tracev1.Span, below func(*tracev1.Span) []*tracev1.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans := slices.Clone(r.spans)
	below = func(parent *tracev1.Span) (all []*tracev1.Span) {
		for _, span := range spans {
			if string(span.ParentSpanId) == string(parent.SpanId) {
				all = append(all, span)
			}
		}
		slices.SortFunc(all, func(a, b *tracev1.Span) int { return int(a.StartTimeUnixNano) - int(b.StartTimeUnixNano) })
		return all
	}
	for _, span := range spans {
		if attributeOf(span, "k8s.pod.name") == pod && len(below(span)) > 0 {
			return span, below
		}
	}
	return nil, below
}

func attributeOf(span *tracev1.Span, name string) string {
	for _, a := range span.Attributes {
		if a.Key != name {
			continue
		}
		text := a.Value.GetStringValue()
		if text != "" {
			return text
		}
		return fmt.Sprint(a.Value.GetIntValue())
	}
	return ""
}

func TestTraceOfAnAttemptHasItsPointsAndTheCallsOfItsGuest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	server, got := grpc.NewServer(), &receiver{}
	collector.RegisterTraceServiceServer(server, got)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	testkit.Must(t, os.WriteFile(file, fmt.Appendf(nil, `
apiVersion: apiserver.config.k8s.io/v1
kind: TracingConfiguration
endpoint: %s
samplingRatePerMillion: 1000000
`, listener.Addr()), 0o600))
	provider, err := TracerProvider(t.Context(), file)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = provider.Shutdown(context.WithoutCancel(t.Context())) })

	start(t, Options{
		Kubeconfig: cluster.Kubeconfig(), Transport: inProcess{}, Decisions: 1 << 20, // which look into the framework, too
		Config:  profileWith(t, "Wasm", "{guestURL: 'http://static-webserver/regex_v2.wasm'}"),
		Prepare: func(sched *scheduler.Scheduler) error { TraceAttempts(sched, provider); return nil },
	})
	addNode(t, "traced")
	create(t, podFor("placed", "^traced$"))
	create(t, podFor("pending", "^other$"))
	waitFor(t, "placed", isOn("traced"))
	waitFor(t, "pending", isPending)

	wantPoints(t, got, "placed", []string{"PreFilter", "PreFilter asks Wasm prefilter", "Filter", "Filter asks Wasm filter", "Reserve", "Bind", "PostBind"}, "k8s.node.name", "traced")
	wantPoints(t, got, "pending", []string{"PreFilter", "PreFilter asks Wasm prefilter", "Filter", "Filter asks Wasm filter", "PostFilter"}, "scheduler.message", "0/1 nodes are available")
}

func wantPoints(t *testing.T, from *receiver, pod string, want []string, name, value string) {
	t.Helper()
	testkit.Eventually(t, "the trace of pod "+pod, func(context.Context) error {
		attempt, below := from.attempt(pod)
		if attempt == nil {
			return errors.New("no attempt was sent")
		}
		var got []string
		for _, point := range below(attempt) {
			got = append(got, point.Name)
			for _, call := range below(point) {
				got = append(got, point.Name+" asks "+attributeOf(call, "wasm.guest")+" "+attributeOf(call, "wasm.hook"))
			}
		}
		if !slices.Equal(got, want) || !strings.HasPrefix(attributeOf(attempt, name), value) {
			return fmt.Errorf("%q %v", got, attempt.Attributes)
		}
		return nil
	})
}

func TestTracingConfigurationThatIsWrongIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	for text, want := range map[string]string{
		`{"apiVersion": "v1", "kind": "ConfigMap"}`: "unable to decode tracing configuration data",
		`{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "TracingConfiguration", "samplingRatePerMillion": 2000000}`: "tracing.samplingRatePerMillion: Invalid value: 2000000",
	} {
		testkit.WriteFile(t, file, text)
		_, err := TracerProvider(t.Context(), file)
		testkit.ErrorHas(t, err, "--tracing-config-file "+file+": "+want)
	}
	_, err := TracerProvider(t.Context(), file+".none")
	testkit.ErrorHas(t, err, "no such file")
}
