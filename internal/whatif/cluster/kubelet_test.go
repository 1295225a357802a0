package cluster

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestPodThatNamesItsNodeKeepsItsClaims: they are made for it before its kubelet admits it.
func TestPodThatNamesItsNodeKeepsItsClaims(t *testing.T) {
	c := inDefault(t)
	for _, manifest := range []string{
		`{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {allocatable: {cpu: "1", pods: "9"}, capacity: {cpu: "1", pods: "9"}}}`,
		`{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpus}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: node-1, resourceClaims: [{name: gpu, resourceClaimTemplateName: gpus}], containers: [{name: c, image: c}]}}`,
	} {
		_, _, err := applied(t, c, manifest)
		testkit.Must(t, err)
	}
	pod := Get[*v1.Pod](c, "default", "p")
	if pod.Status.Phase != v1.PodRunning || len(pod.Status.ResourceClaimStatuses) != 1 {
		t.Errorf("%s, with the claims %+v", pod.Status.Phase, pod.Status.ResourceClaimStatuses)
	}
	if len(c.NotModelled()) > 0 {
		t.Errorf("not modelled: %q", c.NotModelled())
	}
}
