package simulator

import (
	"cmp"
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	kit "wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// addPodWithClaim makes a pod that uses a claim.
func addPodWithClaim(t *testing.T, name, claim string) {
	t.Helper()
	create(t, "/api/v1/namespaces/default/pods", fmt.Sprintf(`
metadata: {name: %s, labels: {app: %s}}
spec:
  containers: [{name: web, image: web}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: %s}}]`, name, name, claim))
}

// addClaim makes a claim of a class; of "" it is one for volumes without a class.
func addClaim(t *testing.T, name, class string) {
	t.Helper()
	create(t, "/api/v1/namespaces/default/persistentvolumeclaims", fmt.Sprintf(`
metadata: {name: %s}
spec: {storageClassName: %q, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`, name, class))
}

// addStorageClass makes a class with a driver.
func addStorageClass(t *testing.T, name, driver string, mode storagev1.VolumeBindingMode, more string) {
	t.Helper()
	create(t, "/apis/storage.k8s.io/v1/storageclasses", fmt.Sprintf(`
metadata: {name: %s}
provisioner: %s
volumeBindingMode: %s
%s`, name, driver, mode, more))
}

// addHosts makes nodes that are labelled with their names, and in zones; of "" in none.
func addHosts(t *testing.T, zones map[string]string) {
	t.Helper()
	for name, zone := range zones {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}}}
		if zone != "" {
			node.Labels[v1.LabelTopologyZone] = zone
		}
		if _, err := sim.Client().CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// volumeOf waits until a claim is bound, and returns its volume.
func volumeOf(t *testing.T, claim string) *v1.PersistentVolume {
	t.Helper()
	core := sim.Client().CoreV1()
	var volume *v1.PersistentVolume
	kit.Succeeds(t, "claim "+claim+" is bound", func(ctx context.Context) error {
		c, err := core.PersistentVolumeClaims("default").Get(ctx, claim, metav1.GetOptions{})
		if err != nil || c.Status.Phase != v1.ClaimBound {
			return cmp.Or(err, fmt.Errorf("it is %+v", c))
		}
		volume, err = core.PersistentVolumes().Get(ctx, c.Spec.VolumeName, metav1.GetOptions{})
		if err != nil || volume.Status.Phase != v1.VolumeBound {
			return cmp.Or(err, fmt.Errorf("its volume is %+v", volume))
		}
		return nil
	})
	return volume
}

// deleteClaim deletes a claim for which its volume was made.
func deleteClaim(t *testing.T, name string) {
	t.Helper()
	if err := sim.Client().CoreV1().PersistentVolumeClaims("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// More on pods with volumes is in whatif/testdata/scenarios, which simulator/referee tries live.
func TestVolumeIsMadeWhereThePodIs(t *testing.T) {
	use(t, "native")
	addHosts(t, map[string]string{"kubecon-1": "", "kubecon-2": ""})
	addStorageClass(t, "made", "any.example.com", storagev1.VolumeBindingWaitForFirstConsumer, "")
	addClaim(t, "data", "made")
	addPodWithClaim(t, "p", "data")
	pod := inPhase(t, "p", 1, v1.PodRunning)[0]
	volume := volumeOf(t, "data")
	if volume.Spec.CSI == nil || volume.Spec.CSI.Driver != "any.example.com" || volume.Spec.Capacity.Storage().String() != "1Gi" {
		t.Errorf("its volume is %+v", volume.Spec)
	}
	key, value := onlyAffinity(t, volume)
	if key != v1.LabelHostname || value != pod.Spec.NodeName {
		t.Errorf("its volume is for %s=%s, and the pod on %s", key, value, pod.Spec.NodeName)
	}
	if err := sim.Client().CoreV1().Pods("default").Delete(t.Context(), "p", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		t.Fatal(err)
	}
	deleteClaim(t, "data")
	kit.Succeeds(t, "the volume goes with its claim", func(ctx context.Context) error {
		left, err := sim.Client().CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return cmp.Or(err, fmt.Errorf("it is %+v", left))
		}
		return nil
	})
}

// onlyAffinity is the one label that a volume's nodes must have.
func onlyAffinity(t *testing.T, volume *v1.PersistentVolume) (key, value string) {
	t.Helper()
	a := volume.Spec.NodeAffinity
	if a == nil || a.Required == nil || len(a.Required.NodeSelectorTerms) != 1 || len(a.Required.NodeSelectorTerms[0].MatchExpressions) != 1 {
		t.Fatalf("affinity %+v", a)
	}
	match := volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]
	return match.Key, match.Values[0]
}

func TestVolumeIsMadeForTheZoneIfTheDriverSaysSo(t *testing.T) {
	use(t, "native")
	addHosts(t, map[string]string{"kubecon-1": "a"})
	create(t, "/apis/storage.k8s.io/v1/csinodes", `
metadata: {name: kubecon-1}
spec: {drivers: [{name: ebs.csi.aws.com, nodeID: x, topologyKeys: [topology.kubernetes.io/zone], allocatable: {count: 1}}]}`)
	addStorageClass(t, "in-tree", "kubernetes.io/aws-ebs", storagev1.VolumeBindingWaitForFirstConsumer, "") // served by the driver
	addClaim(t, "first", "in-tree")
	addPodWithClaim(t, "p", "first")
	inPhase(t, "p", 1, v1.PodRunning)
	key, value := onlyAffinity(t, volumeOf(t, "first"))
	if key != v1.LabelTopologyZone || value != "a" {
		t.Errorf("the volume is for %s=%s", key, value)
	}
	addClaim(t, "second", "in-tree")
	addPodWithClaim(t, "q", "second")
	attempt(t, "q", recorder.Unschedulable) // the driver has room for one
}

func TestVolumeIsMadeAtOnceAndKept(t *testing.T) {
	use(t, "native")
	addHosts(t, map[string]string{"kubecon-1": "a", "kubecon-2": "b"})
	addStorageClass(t, "now", "example.com/nfs", storagev1.VolumeBindingImmediate,
		`reclaimPolicy: Retain
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}]`)
	addClaim(t, "data", "now")
	volume := volumeOf(t, "data")
	addPodWithClaim(t, "p", "data")
	pod := inPhase(t, "p", 1, v1.PodRunning)[0]
	if pod.Spec.NodeName != "kubecon-2" {
		t.Errorf("the pod is on %s", pod.Spec.NodeName)
	}
	deleteClaim(t, "data")
	kit.Succeeds(t, "the volume is released and stays", func(ctx context.Context) error {
		kept, err := sim.Client().CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		if err != nil || kept.Status.Phase != v1.VolumeReleased {
			return cmp.Or(err, fmt.Errorf("it is %+v", kept))
		}
		return nil
	})
}

// The binder annotates a claim when it knows the class, which others may learn later.
func TestVolumeIsMadeOfAClassThatIsKnownLate(t *testing.T) {
	use(t, "native")
	create(t, "/api/v1/namespaces/default/persistentvolumeclaims", `
metadata: {name: data, annotations: {volume.kubernetes.io/storage-provisioner: example.com/nfs}}
spec: {storageClassName: late, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`)
	eventually(t, "the claim is seen", func() bool {
		_, err := sim.Informers().Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims("default").Get("data")
		return err == nil
	})
	addStorageClass(t, "late", "example.com/nfs", storagev1.VolumeBindingImmediate, "")
	volumeOf(t, "data")
}
