package plugin

import (
	"strings"
	"testing"

	"k8s.io/client-go/tools/events"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// recording is a handle with a recorder of events, and with nothing else.
type recording struct {
	framework.Handle
	recorder *events.FakeRecorder
}

func (r recording) EventRecorder() minor.EventRecorder { return r.recorder }

func TestPodWithAHostlistIsScheduledWithAWarning(t *testing.T) {
	for name, tt := range map[string]struct{ include, exclude, want string }{
		"a good pattern":      {"node-[0-9]+", "-gpu$", ""},
		"a hostlist":          {"node[001-128]", "-gpu$", "Warning SuspiciousRegex annotation " + regex.Annotation + ": [001-128] matches one character"},
		"a glob to exclude":   {"node", "gpu-*", "Warning SuspiciousRegex annotation " + regex.ExcludeAnnotation + ": * and ? repeat"},
		"one that is refused": {"node[001-128](", "-gpu$", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := recording{recorder: events.NewFakeRecorder(10)}
			made, err := New(t.Context(), nil, r)
			testkit.Must(t, err)
			_, status := made.(*Plugin).PreFilter(t.Context(), schedframework.NewCycleState(), pod(regex.Annotation, tt.include, regex.ExcludeAnnotation, tt.exclude), nil)
			refused := strings.HasSuffix(tt.include, "(")
			if status.IsSuccess() == refused {
				t.Errorf("PreFilter: %v", status)
			}
			close(r.recorder.Events)
			var got []string
			for event := range r.recorder.Events {
				got = append(got, event)
			}
			if tt.want == "" && got != nil || tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
