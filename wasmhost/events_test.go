package wasmhost

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

func TestAPodIsNotWokenByItsOwnStatus(t *testing.T) {
	events, err := open(t, "patient").(fwk.EnqueueExtensions).EventsToRegister(t.Context())
	if err != nil || len(events) != 2 {
		t.Fatalf("%v, %v", events, err)
	}
	change := func(name string, how func(*v1.Pod)) *v1.Pod {
		p := pod(name)
		p.ResourceVersion = "2"
		how(p)
		return p
	}
	status := func(p *v1.Pod) { p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled}} }
	annotation := func(p *v1.Pod) { p.Annotations = map[string]string{"key": "value"} }
	tests := []struct {
		name     string
		old, new any
		want     fwk.QueueingHint
	}{
		{"its status lets it wait", pod("web"), change("web", status), fwk.QueueSkip},
		{"its annotation wakes it", pod("web"), change("web", annotation), fwk.Queue},
		{"both wake it", pod("web"), change("web", func(p *v1.Pod) { status(p); annotation(p) }), fwk.Queue},
		{"another pod's status wakes it: the guest may look at that", pod("db"), change("db", status), fwk.Queue},
		{"another pod's end wakes it", pod("db"), nil, fwk.Queue},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := events[0].QueueingHintFn(klog.Background(), pod("web"), tt.old, tt.new)
			if err != nil || got != tt.want {
				t.Errorf("got %v %v, want %v", got, err, tt.want)
			}
		})
	}
}
