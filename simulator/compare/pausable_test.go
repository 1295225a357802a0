package compare

import (
	"context"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// A paused scheduler may have a pod in hand already. Tried as it was, it would take room.
func TestAPodThatBecameAnotherDuringAPauseIsNotTried(t *testing.T) {
	_, err := RunSide(t.Context(), SideOptions{
		Config: door(t, "default").Config, Pods: Pending, Seed: 1, Progress: func(string, int, int) {}, Warnings: t.Output(),
		Cluster: &snapshot.Snapshot{
			Nodes: []v1.Node{nodeOf("node", "zone", "2")}, Pods: []v1.Pod{on(podOf("runs", "2"), "node"), podOf("waits", "2")},
		},
		Then: func(ctx context.Context, in *Sandbox) error {
			_, begun, _ := in.side.scheduler.state()
			result, err := in.Try(ctx, func(ctx context.Context) error {
				pods, at := in.Client().CoreV1().Pods("default"), *metav1.NewDeleteOptions(0)
				in.side.removed.Insert(keyOf("default/runs"))
				if err := pods.Delete(ctx, "runs", at); err != nil {
					return err
				}
				taken := func(context.Context) (bool, error) {
					_, now, _ := in.side.scheduler.state()
					return now > begun, nil
				}
				if err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, taken); err != nil {
					t.Error("the scheduler has not taken the pod that waits")
					return err
				}
				if err := pods.Delete(ctx, "waits", at); err != nil {
					return err
				}
				return in.Importer().Pod(ctx, on(podOf("waits", "2"), "node"))
			})
			if err != nil {
				return err
			}
			attempts := in.side.sim.Recorder().Attempts("default", "waits")
			if is := result.pod(keyOf("default/waits")); len(attempts) != 1 || is.Node != "node" {
				t.Errorf("it is on %q, and was tried %d times: %+v", is.Node, len(attempts), attempts)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}
