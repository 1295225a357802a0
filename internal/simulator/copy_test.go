package simulator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	kit "wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

func TestCopyIsAsTheClusterWas(t *testing.T) {
	use(t, "native")
	text, err := os.ReadFile("testdata/copy.yaml")
	testkit.Must(t, err)
	in := read(t, string(text))
	before := fmt.Sprint(in.ReplicaSets, in.PVs)
	err = sim.Import(t.Context(), in, nil)
	refused := snapshot.NotImported(nil)
	if !errors.As(err, &refused) || len(refused) != 1 || refused[0].About != "pod team/wrong" || !strings.Contains(refused[0].Reason, "spec.containers[0].name") {
		t.Fatalf("refused is %v", err)
	}
	after := fmt.Sprint(in.ReplicaSets, in.PVs)
	if after != before {
		t.Errorf("an import changes what it imports from %s to %s", before, after)
	}
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
	kit.Succeeds(t, "the budget is counted", func(ctx context.Context) error {
		budget, err := sim.Client().PolicyV1().PodDisruptionBudgets("team").Get(ctx, "web", metav1.GetOptions{})
		if err == nil && (budget.Status.CurrentHealthy != 1 || budget.Status.ExpectedPods != 1 || budget.Status.DisruptionsAllowed != 0) {
			err = fmt.Errorf("it is %+v", budget.Status)
		}
		return err
	})
	node, err := core.Nodes().Get(t.Context(), "with", metav1.GetOptions{})
	if err != nil || len(node.Status.Images) != 1 {
		t.Errorf("the node is %+v, %v", node, err)
	}
	kit.Succeeds(t, "the claim is the pod's", func(ctx context.Context) error { return reservedFor(ctx, "web-gpu-x", web.UID) })
	waitPhase(t, "web", v1.PodRunning)
	waitPhase(t, "done", v1.PodSucceeded)
	kit.Succeeds(t, "the device is taken", func(context.Context) error {
		attempts := sim.Recorder().Attempts("team", "second")
		if len(attempts) == 0 || attempts[0].Result != recorder.Unschedulable || !strings.Contains(attempts[0].Message, "cannot allocate all claims") {
			return fmt.Errorf("the other pod's attempts are %+v", attempts)
		}
		return nil
	})
}

func reservedFor(ctx context.Context, name string, pod types.UID) error {
	claim, err := sim.Client().ResourceV1().ResourceClaims("team").Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if claim.Status.Allocation == nil || len(claim.Status.ReservedFor) != 1 || claim.Status.ReservedFor[0].UID != pod {
		return fmt.Errorf("it is %+v", claim.Status)
	}
	return nil
}

func waitPhase(t *testing.T, name string, phase v1.PodPhase) {
	t.Helper()
	kit.Succeeds(t, "pod "+name, func(ctx context.Context) error {
		pod, err := sim.Client().CoreV1().Pods("team").Get(ctx, name, metav1.GetOptions{})
		if err == nil && pod.Status.Phase != phase {
			return fmt.Errorf("it is %s, want %s", pod.Status.Phase, phase)
		}
		return err
	})
}
