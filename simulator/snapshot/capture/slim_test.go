package capture

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

func TestASnapshotKeepsWhatDecidesWhereAPodMayRun(t *testing.T) {
	rules := []v1.ContainerRestartRule{
		{Action: v1.ContainerRestartRuleActionRestart},
		{Action: v1.ContainerRestartRuleActionRestartAllContainers}, // asks for a node that declares the feature
	}
	now := metav1.Now()
	s := &snapshot.Snapshot{Pods: []v1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Name: "goes", DeletionTimestamp: &now},
		Spec: v1.PodSpec{
			InitContainers: []v1.Container{{Name: "i", RestartPolicyRules: rules}},
			Containers:     []v1.Container{{Name: "c", RestartPolicyRules: rules[:1]}},
		},
	}}}
	slim(s, nil)
	pod := s.Pods[0]
	if init := pod.Spec.InitContainers[0].RestartPolicyRules; len(init) != 1 || init[0].Action != rules[1].Action || pod.Spec.Containers[0].RestartPolicyRules != nil {
		t.Errorf("the rules are %+v", pod.Spec)
	}
	if pod.DeletionTimestamp == nil { // or a comparison would count it
		t.Error("nothing says that it is being deleted")
	}
}
