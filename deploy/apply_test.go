package deploy

import (
	"net"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestEveryFolderCanBeApplied has the API server take what each renders, and its pods under the restricted standard, of which
// also what it leaves open is wanted: a root file system that is only read, and bounded memory.
func TestEveryFolderCanBeApplied(t *testing.T) {
	folders := foldersWithKustomization(t)
	if len(folders) < 10 {
		t.Fatalf("only %v", folders)
	}
	pods, dryRun := client.CoreV1().Pods(namespace), metav1.CreateOptions{DryRun: dry}
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			rendered := mustRender(t, folder)
			deployments := ofKind[appsv1.Deployment](t, rendered, "Deployment")
			for _, object := range rendered {
				goesIntoOneNamespace(t, object)
				selectsOwnPods(t, object, deployments)
				if strings.HasPrefix(object.GetKind(), "Mutating") && !hasMutatingPolicies() {
					continue
				}
				testkit.Equal(t, apply(t.Context(), object, metav1.DryRunAll), nil, "%s %s", object.GetKind(), object.GetName())
			}
			for _, d := range deployments {
				pod := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: *d.Spec.Template.Spec.DeepCopy()} // as its controller would make it
				pod.GenerateName = d.Name + "-"
				_, err := pods.Create(t.Context(), pod, dryRun)
				testkit.Must(t, err)
				wantHardened(t, d)
				pod.Spec.Containers[0].SecurityContext.Capabilities = nil
				_, err = pods.Create(t.Context(), pod, dryRun)
				testkit.Equal(t, apierrors.IsForbidden(err), true, "the standard is enforced: %v", err)
			}
		})
	}
}

func wantHardened(t *testing.T, d appsv1.Deployment) {
	t.Helper()
	spec := d.Spec.Template.Spec
	schedules := d.Name != "simulator" // a cluster of its own: no one depends on it, and only its own pod reaches it
	if schedules == (*d.Spec.Replicas != 2 || spec.PriorityClassName == "") || spec.HostNetwork {
		t.Errorf("replicas %d, priority class %q, host network %v", *d.Spec.Replicas, spec.PriorityClassName, spec.HostNetwork)
	}
	rollout := d.Spec.Strategy.RollingUpdate
	if schedules && (rollout == nil || rollout.MaxUnavailable.IntValue() != 0) {
		t.Errorf("a rollout leaves fewer replicas: %v", rollout)
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		s := c.SecurityContext
		if s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
			t.Errorf("container %s may write to its root file system", c.Name)
		}
		if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("container %s: resources %v", c.Name, c.Resources)
		}
		if !strings.HasPrefix(c.Image, "registry.example/regex-scheduling/") {
			t.Errorf("container %s has image %s, which make images does not make", c.Name, c.Image)
		}
	}
	for _, c := range spec.Containers {
		if schedules != (c.LivenessProbe != nil && c.ReadinessProbe != nil) {
			t.Errorf("container %s: probes %v and %v", c.Name, c.LivenessProbe, c.ReadinessProbe)
		}
	}
}

func TestOnlyTheSchedulerReachesTheExtender(t *testing.T) {
	for folder, wantPeers := range map[string]int{
		"extender/base": 1, "extender/load": 1, "extender/tls": 1, "static-webserver": 1,
		"extender/servicemonitor": 2, "extender/nodeport": 2,
	} {
		policies := ofKind[networkingv1.NetworkPolicy](t, mustRender(t, folder), "NetworkPolicy")
		if len(policies) != 1 {
			t.Fatalf("%s: %d policies", folder, len(policies))
		}
		var peers []networkingv1.NetworkPolicyPeer
		for _, rule := range policies[0].Spec.Ingress {
			peers = append(peers, rule.From...)
		}
		if len(peers) != wantPeers || peers[0].PodSelector.MatchLabels["app.kubernetes.io/name"] != "custom-scheduler" {
			t.Errorf("%s lets in %v", folder, peers)
		}
		egress := len(policies[0].Spec.Egress)
		wanted := map[bool]int{true: 2}[folder == "extender/load"]
		if egress != wanted || len(policies[0].Spec.PolicyTypes) != 2 {
			t.Errorf("%s: %d rules for what goes out, want %d", folder, egress, wanted)
		}
	}
}

// TestNodePortIsClosedByDefault wants documentation addresses in place of
// the ones of its user, and a port that stays.
func TestNodePortIsClosedByDefault(t *testing.T) {
	rendered := mustRender(t, "extender/nodeport")
	ingress := ofKind[networkingv1.NetworkPolicy](t, rendered, "NetworkPolicy")[0].Spec.Ingress
	for _, peer := range ingress[len(ingress)-1].From {
		_, documentation, _ := net.ParseCIDR("192.0.2.0/24")
		if peer.IPBlock == nil || !documentation.Contains(net.ParseIP(strings.Split(peer.IPBlock.CIDR, "/")[0])) {
			t.Errorf("lets in %+v", peer)
		}
	}
	services := ofKind[corev1.Service](t, rendered, "Service")
	if len(services) != 1 || services[0].Spec.Type != corev1.ServiceTypeNodePort || services[0].Spec.Ports[0].NodePort != 31800 {
		t.Errorf("%+v", services)
	}
}
