package deploy

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/eventually"
)

// device is what pods may call a device of the class, instead of claiming one.
const device = "registry.example/device"

// TestDevicesAreClaimed is about pods that ask for a device by a claim, and by an
// extended resource, for which the scheduler makes the claim itself.
func TestDevicesAreClaimed(t *testing.T) {
	addNode(t, "kubecon-1", 10)
	addDevices(t, "kubecon-1", 2)
	runScheduler(t, "native", nil)

	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "mine", Namespace: "default"}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "one", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "device"}}}
	_, err := client.ResourceV1().ResourceClaims("default").Create(t.Context(), claim, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(dropClaims)

	pod := podFor("by-claim", "kubecon-.*")
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimName: &claim.Name}}
	addPod(t, pod)
	waitForNode(t, "by-claim", "kubecon-1")

	pod = podFor("by-resource", "kubecon-.*")
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{device: resource.MustParse("1")}
	addPod(t, pod)
	waitForNode(t, "by-resource", "kubecon-1")
	eventually.Succeeds(t, "both claims are allocated", bothAllocated)
}

func bothAllocated(ctx context.Context) error {
	claims, err := client.ResourceV1().ResourceClaims("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	allocated := 0
	for _, c := range claims.Items {
		if c.Status.Allocation != nil && len(c.Status.ReservedFor) == 1 {
			allocated++
		}
	}
	if allocated != 2 {
		return fmt.Errorf("%d of %d are: %+v", allocated, len(claims.Items), claims.Items)
	}
	return nil
}

// addDevices is a driver's work.
func addDevices(t *testing.T, node string, number int) {
	t.Helper()
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "device"}}
	extended := device
	class.Spec.ExtendedResourceName = &extended
	classes, slices := client.ResourceV1().DeviceClasses(), client.ResourceV1().ResourceSlices()
	_, err := classes.Create(t.Context(), class, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { _ = classes.Delete(context.Background(), class.Name, metav1.DeleteOptions{}) })

	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}}
	slice.Spec.Driver = "registry.example"
	slice.Spec.NodeName = &node
	slice.Spec.Pool = resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}
	for i := range number {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("device-%d", i)})
	}
	_, err = slices.Create(t.Context(), slice, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { _ = slices.Delete(context.Background(), slice.Name, metav1.DeleteOptions{}) })
}

// dropClaims is a controller's work: it lets go of claims that no pod has.
func dropClaims() {
	claims := client.ResourceV1().ResourceClaims("default")
	all, err := claims.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, c := range all.Items {
		_, _ = claims.Patch(context.Background(), c.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		_ = claims.Delete(context.Background(), c.Name, metav1.DeleteOptions{})
	}
}
