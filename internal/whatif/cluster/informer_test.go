package cluster

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestSchedulerSeesChangesOfTaints but that a node gets as NoExecute what it has as NoSchedule.
func TestSchedulerSeesChangesOfTaints(t *testing.T) {
	taint := func(value string, effect v1.TaintEffect) v1.Taint {
		return v1.Taint{Key: "a", Value: value, Effect: effect}
	}
	node := func(taints ...v1.Taint) *v1.Node { return &v1.Node{Spec: v1.NodeSpec{Taints: taints}} }
	no, never := taint("x", v1.TaintEffectNoSchedule), taint("x", v1.TaintEffectNoExecute)
	for name, tt := range map[string]struct {
		was, is *v1.Node
		changed bool
	}{
		"the same taint as NoExecute":  {node(no), node(no, never), false},
		"of another value":             {node(no), node(no, taint("y", v1.TaintEffectNoExecute)), true},
		"instead":                      {node(no), node(never), true},
		"and another value of the old": {node(no), node(taint("y", v1.TaintEffectNoSchedule), never), true},
		"another value":                {node(no), node(taint("y", v1.TaintEffectNoSchedule)), true},
		"one that is new":              {node(), node(never), true},
		"one that goes":                {node(no, never), node(no), true},
	} {
		seen := false
		withoutNoExecute(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, now any) {
			seen = !slices.Equal(old.(*v1.Node).Spec.Taints, now.(*v1.Node).Spec.Taints)
		}}).OnUpdate(tt.was, tt.is)
		if seen != tt.changed {
			t.Errorf("%s: a change is seen: %v", name, seen)
		}
	}
}

// TestListsOfPodsAreOfOneSelector: the texts of a selector of all and of one of none are empty.
func TestListsOfPodsAreOfOneSelector(t *testing.T) {
	c := inDefault(t)
	c.Start()
	lister := c.PodsBySelector().Lister().Pods("default")
	for i := range 2 {
		c.put(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("p", i)}})
		for _, tt := range []struct {
			selector labels.Selector
			want     int
		}{{labels.Nothing(), 0}, {labels.Everything(), i + 1}} {
			got, err := lister.List(tt.selector)
			testkit.Must(t, err)
			if len(got) != tt.want {
				t.Errorf("%d pods: %T lists %d", i+1, tt.selector, len(got))
			}
		}
	}
}
