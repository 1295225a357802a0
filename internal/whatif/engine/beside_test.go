package engine

import (
	"fmt"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// TestAPluginMayWriteOnAGoroutineOfItsOwn is for the race detector, too.
func TestAPluginMayWriteOnAGoroutineOfItsOwn(t *testing.T) {
	const rounds = 20
	e := underControl(t, 3, workload("Deployment", "apps/v1", "web", "replicas: 6", ""))
	var plugin sync.WaitGroup
	plugin.Go(func() {
		core := e.Cluster.Client.CoreV1()
		for i := range rounds {
			taints := `[{"key": "gone", "effect": "NoExecute"}]`
			if i%2 == 1 {
				taints = "null"
			}
			_, err := core.Nodes().Patch(t.Context(), "n0", types.MergePatchType, []byte(`{"spec": {"taints": `+taints+`}}`), metav1.PatchOptions{})
			if err != nil {
				t.Error(err)
			}
			pods, err := core.Pods("default").List(t.Context(), metav1.ListOptions{})
			if err == nil && len(pods.Items) > 0 {
				_ = core.Pods("default").Delete(t.Context(), pods.Items[0].Name, metav1.DeleteOptions{}) // which may be gone meanwhile
			}
		}
	})
	for range rounds {
		settle(t, e)
	}
	plugin.Wait()
	settle(t, e)
	for _, pod := range cluster.All[*v1.Pod](e.Cluster) {
		if pod.Spec.NodeName == "" {
			t.Error(fmt.Sprint(pod.Name, " has no node"))
		}
	}
	if len(cluster.All[*v1.Pod](e.Cluster)) != 6 {
		t.Errorf("there are %d pods", len(cluster.All[*v1.Pod](e.Cluster)))
	}
}
