package deploy

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/eventually"
)

// TestVolumesThatWaitForTheirConsumer are bound by the scheduler before the pod
// is: it changes a PersistentVolume that is there, or the claim for one that
// somebody else is to make.
func TestVolumesThatWaitForTheirConsumer(t *testing.T) {
	addNode(t, "kubecon-1", 10)
	runScheduler(t, "native", nil)

	addClass(t, "there", "kubernetes.io/no-provisioner")
	addClass(t, "to-be-made", "registry.example/absent")
	addVolume(t, "there", "kubecon-1")
	for _, class := range []string{"there", "to-be-made"} {
		addClaim(t, class)
		pod := podFor("with-"+class, "kubecon-.*")
		claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: class}
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}}}
		addPod(t, pod)
	}
	eventually.Succeeds(t, "the volume has its claim", func(ctx context.Context) error {
		v, err := client.CoreV1().PersistentVolumes().Get(ctx, "there", metav1.GetOptions{})
		if err == nil && (v.Spec.ClaimRef == nil || v.Spec.ClaimRef.Name != "there") {
			return errors.New("no claim")
		}
		return err
	})
	eventually.Succeeds(t, "the claim has its node", func(ctx context.Context) error {
		c, err := client.CoreV1().PersistentVolumeClaims("default").Get(ctx, "to-be-made", metav1.GetOptions{})
		if err == nil && c.Annotations["volume.kubernetes.io/selected-node"] != "kubecon-1" {
			return errors.New("no node")
		}
		return err
	})
}

func addClass(t *testing.T, name, provisioner string) {
	t.Helper()
	late := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &late}
	_, err := client.StorageV1().StorageClasses().Create(t.Context(), class, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		_ = client.StorageV1().StorageClasses().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
}

func addVolume(t *testing.T, name, node string) {
	t.Helper()
	on := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:       name,
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/data"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{on}}},
			}},
		},
	}
	volumes := client.CoreV1().PersistentVolumes()
	_, err := volumes.Create(t.Context(), volume, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { _ = volumes.Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

func addClaim(t *testing.T, class string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: class},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	claims := client.CoreV1().PersistentVolumeClaims("default")
	_, err := claims.Create(t.Context(), claim, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { _ = claims.Delete(context.Background(), class, metav1.DeleteOptions{}) })
}
