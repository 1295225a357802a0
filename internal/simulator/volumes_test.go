package simulator

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// More on pods with volumes is in whatif/testdata/scenarios, which simulator/referee tries live.
func TestVolumesAreMadeAndReleased(t *testing.T) {
	for _, tt := range []struct {
		name, class, key, value, driver string
		kept                            bool
	}{
		{"where the pod is", "provisioner: any.example.com\nvolumeBindingMode: WaitForFirstConsumer", v1.LabelHostname, "kubecon-1", "any.example.com", false},
		{
			"in the zone, if the driver says so", "provisioner: kubernetes.io/aws-ebs\nvolumeBindingMode: WaitForFirstConsumer",
			v1.LabelTopologyZone, "a", "ebs.csi.aws.com", false,
		},
		{
			"at once, and kept", "provisioner: example.com/nfs\nvolumeBindingMode: Immediate\nreclaimPolicy: Retain\n" +
				"allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a]}]}]",
			v1.LabelTopologyZone, "a", "", true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			use(t, "native")
			create(t, sim, "/api/v1/nodes", "metadata: {name: kubecon-1, labels: {"+tt.key+": "+tt.value+"}}")
			create(t, sim, "/apis/storage.k8s.io/v1/csinodes", `
metadata: {name: kubecon-1}
spec: {drivers: [{name: ebs.csi.aws.com, nodeID: x, topologyKeys: [topology.kubernetes.io/zone], allocatable: {count: 1}}]}`)
			create(t, sim, "/apis/storage.k8s.io/v1/storageclasses", "metadata: {name: made}\n"+tt.class)
			create(t, sim, "/api/v1/namespaces/default/persistentvolumeclaims", `
metadata: {name: data}
spec: {storageClassName: made, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`)
			create(t, sim, "/api/v1/namespaces/default/pods", `
metadata: {name: p}
spec: {containers: [{name: web, image: web}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}`)
			attempt(t, "p", recorder.Scheduled)
			core, now := sim.Client().CoreV1(), metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
			claim := testkit.EventuallyIs(t, "data", core.PersistentVolumeClaims("default").Get, func(claim *v1.PersistentVolumeClaim) bool {
				return claim.Status.Phase == v1.ClaimBound
			})
			is := func(phase v1.PersistentVolumePhase) *v1.PersistentVolume {
				return testkit.EventuallyIs(t, claim.Spec.VolumeName, core.PersistentVolumes().Get, func(v *v1.PersistentVolume) bool { return v.Status.Phase == phase })
			}
			volume := is(v1.VolumeBound)
			terms := volume.Spec.NodeAffinity.Required.NodeSelectorTerms
			if len(terms) != 1 || len(terms[0].MatchExpressions) != 1 || terms[0].MatchExpressions[0].Key != tt.key || terms[0].MatchExpressions[0].Values[0] != tt.value {
				t.Errorf("its volume is for %+v", terms)
			}
			if ptr.Deref(volume.Spec.CSI, v1.CSIPersistentVolumeSource{}).Driver != tt.driver || volume.Spec.Capacity.Storage().String() != "1Gi" {
				t.Errorf("its volume is %+v", volume.Spec)
			}
			testkit.Must(t, core.Pods("default").Delete(t.Context(), "p", now))
			testkit.Must(t, core.PersistentVolumeClaims("default").Delete(t.Context(), "data", now))
			if tt.kept {
				is(v1.VolumeReleased)
			} else {
				testkit.EventuallyGone(t, volume.Name, core.PersistentVolumes().Get, apierrors.IsNotFound)
			}
		})
	}
}
