package simulator

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
)

// addDevice gives a node a device, and makes a template of claims for it.
func addDevice(t *testing.T, node string) {
	t.Helper()
	devices := sim.Client().ResourceV1()
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
	if _, err := devices.DeviceClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "the-only-one"}},
	}}
	if _, err := devices.ResourceSlices().Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	template := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
	template.Spec.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}
	if _, err := devices.ResourceClaimTemplates("default").Create(t.Context(), template, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// addPodWithDevice makes a pod with a claim of the template.
func addPodWithDevice(t *testing.T, name string) {
	t.Helper()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PodSpec{
		Containers:     []v1.Container{{Name: "web", Image: "web"}},
		ResourceClaims: []v1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpu")}},
	}}
	if _, err := sim.Client().CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestDeviceIsForOnePodAfterTheOtherAndGoesWithAReset(t *testing.T) {
	use(t, "native")
	addNodes(t, "with", "without")
	addDevice(t, "with")
	addPodWithDevice(t, "first")
	a := attempt(t, "first", recorder.Scheduled)
	if a.Node != "with" {
		t.Errorf("the pod is on %s", a.Node)
	}
	addPodWithDevice(t, "second")
	attempt(t, "second", recorder.Unschedulable)
	if err := sim.Client().CoreV1().Pods("default").Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	attempt(t, "second", recorder.Scheduled)

	reset(t)()
	devices := sim.Client().ResourceV1()
	classes, err := devices.DeviceClasses().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(classes.Items) > 0 {
		t.Errorf("after a reset there is %v, %v", classes, err)
	}
	slices, err := devices.ResourceSlices().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(slices.Items) > 0 {
		t.Errorf("after a reset there is %v, %v", slices, err)
	}
	claims, err := devices.ResourceClaims("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(claims.Items) > 0 {
		t.Errorf("after a reset there is %v, %v", claims, err)
	}
}
