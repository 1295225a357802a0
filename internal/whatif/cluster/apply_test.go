package cluster

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// webWith is a Deployment whose selector has a label; it does not say how many replicas it wants.
func webWith(label, image string) *appsv1.Deployment {
	labels := map[string]string{"app": label}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template = v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: image}}}}
	return d
}

func TestApplyWorkloadKeepsTheLiveReplicasAndRefusesAsAnAPIServer(t *testing.T) {
	c, err := New(time.Now)
	testkit.Must(t, err)
	if _, err := c.Create(t.Context(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}); err != nil {
		t.Fatal(err)
	}
	first := webWith("web", "a")
	first.Spec.Replicas = ptr.To[int32](3)
	for _, d := range []*appsv1.Deployment{first, webWith("web", "b")} {
		testkit.Must(t, c.ApplyWorkload(t.Context(), d))
	}
	is := Get[*appsv1.Deployment](c, "default", "web")
	if *is.Spec.Replicas != 3 || is.Spec.Template.Spec.Containers[0].Image != "b" || is.Generation != 2 {
		t.Errorf("%+v", is)
	}
	err = c.ApplyWorkload(t.Context(), webWith("other", "b"))
	testkit.ErrorHas(t, err, "field is immutable")
}
