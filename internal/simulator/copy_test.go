package simulator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestCopyIsAsTheClusterWas(t *testing.T) {
	use(t, "native")
	in := read(t, string(testkit.ReadFile(t, "testdata/copy.yaml")))
	before := fmt.Sprint(in.ReplicaSets, in.PVs)
	err := sim.Import(t.Context(), in, nil)
	refused := snapshot.NotImported(nil)
	if !errors.As(err, &refused) || len(refused) != 1 || refused[0].About != "pod team/wrong" || !strings.Contains(refused[0].Reason, "spec.containers[0].name") {
		t.Fatalf("refused is %v", err)
	}
	testkit.Equal(t, fmt.Sprint(in.ReplicaSets, in.PVs), before, "what was imported")
	core := sim.Client().CoreV1()
	web := getPod(t, "team", "web")
	set, err := sim.Client().AppsV1().ReplicaSets("team").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || len(web.OwnerReferences) != 1 || web.OwnerReferences[0].UID != set.UID || web.Spec.NodeName != "with" {
		t.Errorf("pod %+v of set %v, %v", web, set.UID, err)
	}
	volume := web.Spec.Volumes[0].PersistentVolumeClaim
	if volume == nil || volume.ClaimName != "web-scratch" {
		t.Errorf("its volume is %+v", web.Spec.Volumes[0])
	}
	testkit.EventuallyIs(t, "web", sim.Client().PolicyV1().PodDisruptionBudgets("team").Get, func(budget *policyv1.PodDisruptionBudget) bool {
		return budget.Status.CurrentHealthy == 1 && budget.Status.ExpectedPods == 1 && budget.Status.DisruptionsAllowed == 0
	})
	node, err := core.Nodes().Get(t.Context(), "with", metav1.GetOptions{})
	if err != nil || len(node.Status.Images) != 1 {
		t.Errorf("the node is %+v, %v", node, err)
	}
	testkit.EventuallyIs(t, "web-gpu-x", sim.Client().ResourceV1().ResourceClaims("team").Get, func(claim *resourcev1.ResourceClaim) bool {
		return claim.Status.Allocation != nil && len(claim.Status.ReservedFor) == 1 && claim.Status.ReservedFor[0].UID == web.UID
	})
	for name, phase := range map[string]v1.PodPhase{"web": v1.PodRunning, "done": v1.PodSucceeded} {
		testkit.EventuallyIs(t, name, core.Pods("team").Get, func(pod *v1.Pod) bool { return pod.Status.Phase == phase })
	}
	testkit.Eventually(t, "the device is taken", func(context.Context) error {
		attempts := sim.Recorder().Attempts("team", "second")
		if len(attempts) == 0 || attempts[0].Result != recorder.Unschedulable || !strings.Contains(attempts[0].Message, "cannot allocate all claims") {
			return fmt.Errorf("the other pod's attempts are %+v", attempts)
		}
		return nil
	})
}
