package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// gpus are what the nodes of a whole cluster have of it.
const (
	gpu  = "nvidia.com/gpu"
	gpus = 8
)

// packing are the guest of examples/pack, and what of kube-scheduler scores as it does.
func packing() []*variant {
	return []*variant{
		{name: "pack", serve: func(tb testing.TB) string {
			file := filepath.Join(tb.TempDir(), "pack.wasm")
			build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "../examples/pack")
			build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
			output, err := build.CombinedOutput()
			if err != nil {
				tb.Fatalf("%v: %s", err, output)
			}
			return withPlugin("Pack") + `    score:
      disabled:
      - name: NodeResourcesFit
  pluginConfig:
  - name: Pack
    args:
      guestURL: file://` + file + "\n"
		}},
		{name: "RequestedToCapacityRatio", serve: func(testing.TB) string {
			return configuration + `profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources:
        - {name: ` + gpu + `, weight: 1}
        requestedToCapacityRatio:
          shape:
          - {utilization: 0, score: 0}
          - {utilization: 100, score: 10}
`
		}},
	}
}

// withGPUs are pods without a regex that request one to four GPUs in turn.
func withGPUs(*variant) []*v1.Pod {
	all := podsLike(&kase{plain: true})
	for i, pod := range all {
		requests := pod.Spec.Containers[0].Resources.Requests.DeepCopy()
		requests[gpu] = *resource.NewQuantity(int64(1+i%4), resource.DecimalSI)
		pod.Spec.Containers[0].Resources = v1.ResourceRequirements{Requests: requests, Limits: v1.ResourceList{gpu: requests[gpu]}}
	}
	return all
}
