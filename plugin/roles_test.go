package plugin

import (
	"testing"

	"k8s.io/kube-scheduler/framework"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func TestPluginReadsTheAnnotationOfEveryRole(t *testing.T) {
	for r := range regex.Roles {
		t.Run(r.Field(), func(t *testing.T) {
			const key = "example.com/own"
			pl := newPlugin(t, `{"`+r.Field()+`": "`+key+`"}`)
			bad, good := pod(key, "("), pod(key, "gpu")
			_, status := pl.PreFilter(t.Context(), schedframework.NewCycleState(), bad, nil)
			want := "annotation " + key + `: missing closing ): "("`
			if status.Code() != framework.UnschedulableAndUnresolvable || status.Message() != want {
				t.Errorf("an invalid pattern: %v", status)
			}
			_, status = pl.PreFilter(t.Context(), schedframework.NewCycleState(), good, nil)
			if status.IsSkip() == r.Rejects() {
				t.Errorf("PreFilter: %v", status)
			}
			status = pl.PreScore(t.Context(), schedframework.NewCycleState(), good, nil)
			if status.IsSkip() != r.Rejects() {
				t.Errorf("PreScore: %v", status)
			}
			changed := framework.ClusterEvent{Resource: minor.OwnPod, ActionType: framework.Update}
			got := hint(t, pl, good, changed, bad, good)
			if got != framework.Queue {
				t.Errorf("a fixed pattern: %v", got)
			}
			added := framework.ClusterEvent{Resource: framework.Node, ActionType: framework.Add}
			got = hint(t, pl, bad, added, nil, node("gpu-1").Node())
			if got != framework.QueueSkip {
				t.Errorf("a node for an invalid pattern: %v", got)
			}
			was, _ := pl.SignPod(t.Context(), bad)
			is, _ := pl.SignPod(t.Context(), good)
			if was[r] == is[r] || is[r].Value != "gpu" {
				t.Errorf("signed with %v and %v", was, is)
			}
		})
	}
}
