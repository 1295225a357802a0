package simulator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	kit "wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// aCopy is what a snapshot of a cluster with devices, budgets and owners has, some
// of it as no API server would make it by itself.
const aCopy = `
nodes:
- metadata: {name: with}
  status: {capacity: &room {cpu: "4", memory: 8Gi, pods: "10"}, allocatable: *room, images: [{names: ["c:latest"], sizeBytes: 5}]}
- {metadata: {name: without}, status: {capacity: *room, allocatable: *room}}
replicaSets:
- metadata: {name: web, namespace: team, uid: rs-uid}
  spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}}
services:
- metadata: {name: web, namespace: team}
  spec: {type: NodePort, selector: {app: web}, clusterIP: 192.0.2.7, clusterIPs: [192.0.2.7], ports: [{port: 80, nodePort: 99}]}
jobs:
- metadata: {name: once, namespace: team, uid: job-uid}
  spec:
    selector: {matchLabels: {batch.kubernetes.io/controller-uid: job-uid}}
    template: {metadata: {labels: {batch.kubernetes.io/controller-uid: job-uid}}, spec: {restartPolicy: Never, schedulerName: absent, containers: [{name: c, image: c}]}}
podDisruptionBudgets:
- metadata: {name: web, namespace: team}
  spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
  status: {disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2}
deviceClasses:
- metadata: {name: gpu}
resourceSlices:
- metadata: {name: with}
  spec: {driver: gpu.example.com, nodeName: with, pool: {name: with, resourceSliceCount: 1, generation: 0}, devices: [{name: the-only-one}]}
resourceClaimTemplates:
- metadata: {name: gpu, namespace: team}
  spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}}
resourceClaims:
- metadata:
    {name: web-gpu-x, namespace: team, finalizers: [resource.kubernetes.io/delete-protection], annotations: {resource.kubernetes.io/pod-claim-name: gpu},
     ownerReferences: [{apiVersion: v1, kind: Pod, name: web, uid: pod-uid, controller: true}]}
  spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}
  status: {allocation: {devices: {results: [{request: gpu, driver: gpu.example.com, pool: with, device: the-only-one}]}}, reservedFor: [{resource: pods, name: web, uid: pod-uid}]}
pvcs:
- metadata: {name: web-scratch, namespace: team, ownerReferences: [{apiVersion: v1, kind: Pod, name: web, uid: pod-uid, controller: true}]}
  spec: {accessModes: [ReadWriteOnce], volumeName: scratch, storageClassName: "", resources: {requests: {storage: 1Gi}}}
  status: {phase: Bound}
pvs:
- metadata: {name: scratch, finalizers: [kubernetes.io/pv-protection]}
  spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /x}, claimRef: {namespace: team, name: web-scratch, uid: old}}
  status: {phase: Bound}
pods:
- metadata: {name: second, namespace: team}
  spec: {priorityClassName: high, priority: 7, containers: [{name: c, image: c, resources: {claims: [{name: gpu}]}}], resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]}
- metadata: {name: done, namespace: team}
  spec: {nodeName: with, containers: [{name: c, image: c}]}
  status: {phase: Succeeded}
- metadata: {name: wrong, namespace: team}
  spec: {nodeName: with, containers: [{name: Not A Name, image: c}]}
- metadata: {name: web, namespace: team, uid: pod-uid, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: rs-uid, controller: true}, {apiVersion: v1, kind: Absent, name: e, uid: e}]}
  spec:
    nodeName: with
    containers: [{name: c, image: c, resources: {claims: [{name: gpu}]}}]
    resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
    volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]
  status: {phase: Running, resourceClaimStatuses: [{name: gpu, resourceClaimName: web-gpu-x}]}
`

func TestCopyIsAsTheClusterWas(t *testing.T) {
	use(t, "native")
	in := read(t, aCopy)
	before := fmt.Sprint(in.ReplicaSets, in.PVs)
	err := sim.Import(t.Context(), in, nil)
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
