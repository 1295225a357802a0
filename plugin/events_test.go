package plugin

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// labelled returns the pod with a label, as another part of an update.
func labelled(p *v1.Pod) *v1.Pod {
	p.Labels = map[string]string{"app": "web"}
	return p
}

// renamed returns the pod as another pod.
func renamed(p *v1.Pod) *v1.Pod {
	p.UID = "another"
	return p
}

func TestQueueingHints(t *testing.T) {
	const key = regex.Annotation
	pending := pod(key, "cncf-.*")
	added := framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add}
	updated := framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update}
	cncf := node("cncf-1").Node()
	for _, tt := range []struct {
		name     string
		pod      *v1.Pod
		event    framework.ClusterEvent
		old, new any
		want     framework.QueueingHint
	}{
		{"a new node that matches", pending, added, nil, cncf, framework.Queue},
		{"a new node that does not match", pending, added, nil, node("kubecon-1").Node(), framework.QueueSkip},
		{"a new node that is excluded", pod(regex.ExcludeAnnotation, "cncf"), added, nil, cncf, framework.QueueSkip},
		{"an update of a node that matches", pending, framework.ClusterEvent{Resource: framework.Node, ActionType: framework.UpdateNodeTaint}, cncf, cncf, framework.QueueSkip},
		{"another pattern", pending, updated, pod(key, "cncf-.*"), pod(key, "kubecon-.*"), framework.Queue},
		{"the removal of the annotation", pending, updated, pod(key, "cncf-.*"), pod(), framework.Queue},
		{"an annotation that becomes empty", pending, updated, pod(), pod(key, ""), framework.Queue},
		{"another change of the pod", pending, updated, pod(key, "cncf-.*"), labelled(pod(key, "cncf-.*")), framework.QueueSkip},
		{"a change of another pod's annotation", pending, schedframework.EventAssignedPodUpdate, renamed(pod(key, "a")), renamed(pod(key, "b")), framework.QueueSkip},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pl := newPlugin(t, "")
			pl.PreFilter(t.Context(), schedframework.NewCycleState(), tt.pod, nil) // it has no node
			testkit.Equal(t, hint(t, pl, tt.pod, tt.event, tt.old, tt.new), tt.want, "the hint")
		})
	}
}

// The scheduler's queue waits for each hint.
func TestHintCompilesNoPattern(t *testing.T) {
	pl, p := newPlugin(t, ""), pod(regex.Annotation, "cncf-.*")
	added := framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add}
	for range 2 {
		testkit.Equal(t, hint(t, pl, p, added, nil, node("kubecon-1").Node()), framework.Queue, "the hint by a pattern that is not compiled")
	}
	_, err := pl.patterns.Cached(p.Annotations)
	testkit.ErrorIs(t, err, regex.ErrNotCached)
}

// hint asks the hints that the plugin has registered for an event.
func hint(t *testing.T, pl *Plugin, p *v1.Pod, event framework.ClusterEvent, oldObj, newObj any) framework.QueueingHint {
	t.Helper()
	registered, err := pl.EventsToRegister(t.Context())
	testkit.Must(t, err)
	for _, r := range registered {
		if !schedframework.MatchClusterEvents(r.Event, event) {
			continue
		}
		got, err := r.QueueingHintFn(klog.Background(), p, oldObj, newObj)
		testkit.Must(t, err)
		return got
	}
	return framework.QueueSkip
}

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
			testkit.Equal(t, status.IsSuccess(), !strings.HasSuffix(tt.include, "("), "PreFilter: %v", status)
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
