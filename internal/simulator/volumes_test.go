package simulator

import (
	"cmp"
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	kit "wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// volumeIs waits until a claim is bound, and its volume, or the one that it had, is in a phase. "" is none.
func volumeIs(t *testing.T, claim, had string, phase v1.PersistentVolumePhase) (volume *v1.PersistentVolume) {
	t.Helper()
	core := sim.Client().CoreV1()
	kit.Succeeds(t, fmt.Sprintf("the volume of claim %s is %q", claim, phase), func(ctx context.Context) error {
		name := had
		if name == "" {
			c, err := core.PersistentVolumeClaims("default").Get(ctx, claim, metav1.GetOptions{})
			if err != nil || c.Status.Phase != v1.ClaimBound {
				return cmp.Or(err, fmt.Errorf("it is %+v", c))
			}
			name = c.Spec.VolumeName
		}
		var err error
		volume, err = core.PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
		if phase == "" && apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil || volume.Status.Phase != phase {
			return cmp.Or(err, fmt.Errorf("it is %+v", volume))
		}
		return nil
	})
	return volume
}

// More on pods with volumes is in whatif/testdata/scenarios, which simulator/referee tries live.
func TestVolumesAreMadeAndReleased(t *testing.T) {
	for _, tt := range []struct{ name, class, key, value, driver, after string }{
		{"where the pod is", "provisioner: any.example.com\nvolumeBindingMode: WaitForFirstConsumer", v1.LabelHostname, "kubecon-1", "any.example.com", ""},
		{
			"in the zone, if the driver says so", "provisioner: kubernetes.io/aws-ebs\nvolumeBindingMode: WaitForFirstConsumer",
			v1.LabelTopologyZone, "a", "ebs.csi.aws.com", "",
		},
		{
			"at once, and kept", "provisioner: example.com/nfs\nvolumeBindingMode: Immediate\nreclaimPolicy: Retain\n" +
				"allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a]}]}]",
			v1.LabelTopologyZone, "a", "", string(v1.VolumeReleased),
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
			volume := volumeIs(t, "data", "", v1.VolumeBound)
			terms := volume.Spec.NodeAffinity.Required.NodeSelectorTerms
			if len(terms) != 1 || len(terms[0].MatchExpressions) != 1 || terms[0].MatchExpressions[0].Key != tt.key || terms[0].MatchExpressions[0].Values[0] != tt.value {
				t.Errorf("its volume is for %+v", terms)
			}
			if ptr.Deref(volume.Spec.CSI, v1.CSIPersistentVolumeSource{}).Driver != tt.driver || volume.Spec.Capacity.Storage().String() != "1Gi" {
				t.Errorf("its volume is %+v", volume.Spec)
			}
			core, now := sim.Client().CoreV1(), metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
			testkit.Must(t, core.Pods("default").Delete(t.Context(), "p", now))
			testkit.Must(t, core.PersistentVolumeClaims("default").Delete(t.Context(), "data", now))
			volumeIs(t, "data", volume.Name, v1.PersistentVolumePhase(tt.after))
		})
	}
}
