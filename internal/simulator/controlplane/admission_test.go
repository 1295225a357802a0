package controlplane

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

func TestPodsThatACommonAPIServerTakesAreTaken(t *testing.T) {
	t.Parallel()
	client := clientOf(t, sharedCluster.AdminConfig())
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "admitted-"}}, metav1.CreateOptions{})
	testkit.Must(t, err)
	pods := "/api/v1/namespaces/" + namespace.Name + "/pods"
	objects.Post(t, client.CoreV1().RESTClient(), pods, "metadata: {name: privileged}\nspec: {containers: [{name: c, image: c, securityContext: {privileged: true}}]}")
	objects.Post(t, client.CoreV1().RESTClient(), pods, `
metadata: {name: with-token}
spec:
  containers: [{name: c, image: c, volumeMounts: [{name: token, mountPath: /t}]}]
  volumes: [{name: token, projected: {sources: [{serviceAccountToken: {path: token, audience: vault}}]}}]`)
	pod, err := client.CoreV1().Pods(namespace.Name).Get(t.Context(), "with-token", metav1.GetOptions{})
	testkit.Must(t, err)
	testkit.Equal(t, pod.Spec.ServiceAccountName, "default", "the service account")
}
