package plugin

import (
	"errors"
	"testing"

	v1 "k8s.io/api/core/v1"
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
			got := hint(t, pl, tt.pod, tt.event, tt.old, tt.new)
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// The scheduler's queue waits for each hint.
func TestHintCompilesNoPattern(t *testing.T) {
	pl, p := newPlugin(t, ""), pod(regex.Annotation, "cncf-.*")
	added := framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add}
	for range 2 {
		got := hint(t, pl, p, added, nil, node("kubecon-1").Node())
		if got != framework.Queue {
			t.Errorf("got %v for a pattern that is not compiled", got)
		}
	}
	_, err := pl.patterns.Cached(p.Annotations)
	if !errors.Is(err, regex.ErrNotCached) {
		t.Errorf("the pattern is compiled: %v", err)
	}
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
