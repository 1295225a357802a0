package deploy

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// TestPodGetsItsDeviceWithJustTheSchedulersRights asks for devices in both ways:
// by a claim, and as for CPU.
func TestPodGetsItsDeviceWithJustTheSchedulersRights(t *testing.T) {
	addNode(t, "kubecon-1", 10)
	addNode(t, "kubecon-2", 10)
	addDevices(t, "kubecon-2", "first", "second")
	runScheduler(t, "native", nil)

	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}
	_, err := client.ResourceV1().ResourceClaims("default").Create(t.Context(), claim, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { removeClaims(t) })
	claiming := podFor("claiming", "kubecon-")
	claiming.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("gpu")}}
	addPod(t, claiming)
	waitForNode(t, "claiming", "kubecon-2")

	if server, err := client.Discovery().ServerVersion(); err != nil || server.Minor < "36" {
		t.Logf("devices cannot be asked for as for CPU before Kubernetes 1.36 (%v)", err)
		return
	}
	counting := podFor("counting", "kubecon-")
	one := corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
	counting.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: one, Limits: one}
	addPod(t, counting)
	waitForNode(t, "counting", "kubecon-2")
}

// removeClaims does what a controller would do once their pods are gone, and may do at the same time.
func removeClaims(t *testing.T) {
	t.Helper()
	claims := client.ResourceV1().ResourceClaims("default")
	list, err := claims.List(context.Background(), metav1.ListOptions{})
	must(t, err)
	for _, claim := range list.Items {
		_, err := claims.Patch(context.Background(), claim.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err == nil {
			err = claims.Delete(context.Background(), claim.Name, metav1.DeleteOptions{})
		}
		if !apierrors.IsNotFound(err) {
			must(t, err)
		}
	}
}

// addDevices gives a node devices of a class of its own.
func addDevices(t *testing.T, node string, names ...string) {
	t.Helper()
	devices := client.ResourceV1()
	class := &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu"},
		Spec:       resourcev1.DeviceClassSpec{ExtendedResourceName: ptr.To("example.com/gpu")},
	}
	_, err := devices.DeviceClasses().Create(t.Context(), class, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { _ = devices.DeviceClasses().Delete(context.Background(), "gpu", metav1.DeleteOptions{}) })
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1},
	}}
	for _, name := range names {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: name})
	}
	_, err = devices.ResourceSlices().Create(t.Context(), slice, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { _ = devices.ResourceSlices().Delete(context.Background(), node, metav1.DeleteOptions{}) })
}
