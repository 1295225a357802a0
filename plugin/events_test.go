package plugin

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor/hooks"
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

func TestWhatWakesAWaitingPod(t *testing.T) {
	const key = regex.Annotation
	waiting := pod(key, "cncf-.*")
	tests := []struct {
		name     string
		pod      *v1.Pod
		event    framework.ClusterEvent
		old, new any
		want     framework.QueueingHint
	}{
		{
			name: "a new node that matches wakes it", pod: waiting,
			event: framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add},
			new:   node("cncf-1").Node(), want: framework.Queue,
		},
		{
			name: "a new node that doesn't match lets it wait", pod: waiting,
			event: framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add},
			new:   node("kubecon-1").Node(), want: framework.QueueSkip,
		},
		{
			name: "a new node mends no invalid regex", pod: pod(key, "("),
			event: framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add},
			new:   node("cncf-1").Node(), want: framework.QueueSkip,
		},
		{
			name: "a new node mends no invalid preference", pod: pod(regex.PreferAnnotation, "("),
			event: framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add},
			new:   node("cncf-1").Node(), want: framework.QueueSkip,
		},
		{
			name: "a fixed preference wakes it", pod: waiting,
			event: framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update},
			old:   pod(regex.PreferAnnotation, "("), new: pod(regex.PreferAnnotation, "a"), want: framework.Queue,
		},
		{
			name: "an update of a node that matches lets it wait", pod: waiting,
			event: framework.ClusterEvent{Resource: framework.Node, ActionType: framework.UpdateNodeTaint},
			old:   node("cncf-1").Node(), new: node("cncf-1").Node(), want: framework.QueueSkip,
		},
		{
			name: "its fixed annotation wakes it", pod: waiting,
			event: framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update},
			old:   pod(key, "cncf-.*"), new: pod(key, "kubecon-.*"), want: framework.Queue,
		},
		{
			name: "the removal of its annotation wakes it", pod: waiting,
			event: framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update},
			old:   pod(key, "cncf-.*"), new: pod(), want: framework.Queue,
		},
		{
			name: "an annotation that becomes empty wakes it", pod: waiting,
			event: framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update},
			old:   pod(), new: pod(key, ""), want: framework.Queue,
		},
		{
			name: "a fixed exclusion wakes it", pod: waiting,
			event: framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update},
			old:   pod(regex.ExcludeAnnotation, "cncf-.*"), new: pod(), want: framework.Queue,
		},
		{
			name: "a new node that it excludes lets it wait", pod: pod(regex.ExcludeAnnotation, "gpu"),
			event: framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add},
			new:   node("gpu-1").Node(), want: framework.QueueSkip,
		},
		{
			name: "another change of it lets it wait", pod: waiting,
			event: framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update},
			old:   pod(key, "cncf-.*"), new: labelled(pod(key, "cncf-.*")), want: framework.QueueSkip,
		},
		{
			name: "a change of another pod's annotation lets it wait", pod: waiting,
			event: schedframework.EventAssignedPodUpdate,
			old:   renamed(pod(key, "a")), new: renamed(pod(key, "b")), want: framework.QueueSkip,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := hint(t, tt.pod, tt.event, tt.old, tt.new); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// hint asks the hints that the plugin has registered for an event.
func hint(t *testing.T, p *v1.Pod, event framework.ClusterEvent, oldObj, newObj any) framework.QueueingHint {
	t.Helper()
	registered, err := newPlugin(t, "").EventsToRegister(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range registered {
		if !schedframework.MatchClusterEvents(r.Event, event) {
			continue
		}
		got, err := r.QueueingHintFn(klog.Background(), p, oldObj, newObj)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	return framework.QueueSkip
}

func TestEveryKindOfPodUpdateIsHeardOf(t *testing.T) {
	const key = regex.Annotation
	before := pod(key, "a")
	for name, after := range map[string]*v1.Pod{
		"the annotation alone":       pod(key, "b"),
		"the annotation and a label": labelled(pod(key, "b")),
	} {
		t.Run(name, func(t *testing.T) {
			for _, event := range hooks.OwnChange(after, before) {
				if got := hint(t, after, event, before, after); got != framework.Queue {
					t.Errorf("%v: %v", event, got)
				}
			}
		})
	}
}
