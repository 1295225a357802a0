package drain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// withDevices has three nodes with a device each and one without. Claims of two pods are in the
// file, and that of the third is made from a template; a fourth pod is pending for lack of a device.
func withDevices() string {
	nodes, slices, claims, pods := nodeWith("none", "x", "9"), "", "", ""
	for _, node := range []string{"a", "b", "d"} {
		nodes += nodeWith(node, "x", "4")
		slices += fmt.Sprintf(`- {metadata: {name: %s}, spec: {driver: gpu.example.com, nodeName: %[1]s, pool: {name: %[1]s, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu}]}}
`, node)
	}
	for _, node := range []string{"a", "b"} {
		claims += fmt.Sprintf(`- metadata: {name: of-%s, namespace: default, finalizers: [resource.kubernetes.io/delete-protection]}
  spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
  status:
    allocation:
      devices: {results: [{request: gpu, driver: gpu.example.com, pool: %[1]s, device: gpu}]}
      nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [%[1]s]}]}]}
`, node)
		pods += ownedBy("ReplicaSet", "gpu", "gpu-"+node, node, "1", "", ", resourceClaims: [{name: gpu, resourceClaimName: of-"+node+"}]")
	}
	for _, name := range []string{"made", "waits"} {
		pods += ownedBy("ReplicaSet", "gpu", name, "", "1", "", ", resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]")
	}
	return "nodes:\n" + nodes + "deviceClasses:\n- metadata: {name: gpu}\nresourceSlices:\n" + slices + "resourceClaims:\n" + claims + `resourceClaimTemplates:
- {metadata: {name: gpu, namespace: default}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}
pods:
` + pods
}

func TestFailedBatchLeavesDevicesWithTheirPods(t *testing.T) {
	o := removing(t, unmodified, withDevices())
	_, err := o.once(t.Context(), o.Options, func(string, int, int) {}, func(d *draining) error {
		d.Spare = true
		look := func() (all []string) {
			for _, claim := range cluster.All[*resourcev1.ResourceClaim](d.Cluster) {
				line := fmt.Sprintf("%.4s", claim.Name)
				for _, pod := range claim.Status.ReservedFor {
					line += " for " + pod.Name
				}
				if got := claim.Status.Allocation; got != nil {
					line += " is of " + got.Devices.Results[0].Pool
				}
				all = append(all, line)
			}
			slices.Sort(all)
			return all
		}
		before := look()
		if len(before) != 4 || !strings.Contains(strings.Join(before, "; "), "for gpu-a is of a") {
			t.Errorf("before, claims are %q", before)
		}
		for range 2 {
			stuck, err := d.drain(t.Context(), []string{"a", "b", "d"})
			if err != nil || len(stuck) != 3 {
				t.Errorf("%v went not: %v", stuck, err)
			}
			alike(t, "afterwards", look(), before...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
