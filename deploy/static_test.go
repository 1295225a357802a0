package deploy

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	api "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestKubeletTakesTheStaticPods holds them against what it refuses: what refers
// to an object of the API.
func TestKubeletTakesTheStaticPods(t *testing.T) {
	for _, name := range []string{"extender", "kube-scheduler"} {
		pod := staticPod(t, name)
		var internal api.Pod
		testkit.Must(t, legacyscheme.Scheme.Convert(pod.DeepCopy(), &internal, nil))
		refers, to, err := podutil.HasAPIObjectReference(&internal)
		testkit.Must(t, err)
		testkit.Equal(t, refers, false, "%s refers to %s", name, to)
		testkit.Equal(t, pod.Namespace, "kube-system", "the namespace of %s", name)
		testkit.Equal(t, pod.Spec.HostNetwork, true, "%s is on the host's network", name)
		object, err := readObject("static-pods/" + name + ".yaml")
		testkit.Must(t, err)
		testkit.Must(t, apply(t.Context(), object, metav1.DryRunAll))
	}
	pod := staticPod(t, "extender")
	c := extenderConfig(t, "", pod.Spec.Containers[0].Args...)
	probe := pod.Spec.Containers[0].LivenessProbe.HTTPGet
	if c.Listen != "127.0.0.1:8000" || c.Filter != "regex" || probe.Host != "127.0.0.1" || probe.Port.IntValue() != 8000 {
		t.Errorf("the extender listens on %s, filters with %v, is probed at %s:%s", c.Listen, c.Filter, probe.Host, &probe.Port)
	}
}

func staticPod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	testkit.Must(t, yaml.UnmarshalStrict(testkit.ReadFile(t, "static-pods/"+name+".yaml"), &pod))
	return &pod
}

// TestStaticSchedulerSchedules runs it with its configuration, where the files
// are that a node would have, and with the rights of kubeadm's scheduler.
func TestStaticSchedulerSchedules(t *testing.T) {
	pod := staticPod(t, "kube-scheduler")
	mounted := map[string]bool{}
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		mounted[mount.MountPath] = true
	}
	const folder, kubeconfig = "/etc/kubernetes/regex-scheduling", "/etc/kubernetes/scheduler.conf"
	if !mounted[folder] || !mounted[kubeconfig] || pod.Spec.Containers[0].Args[0] != "--config="+folder+"/config.yaml" {
		t.Errorf("%v is mounted, and its arguments are %q", mounted, pod.Spec.Containers[0].Args)
	}
	text := testkit.ReadFile(t, "static-pods/config.yaml")
	static, err := filepath.Abs("../static")
	testkit.Must(t, err)
	file := kubeconfigOf(t, "system:kube-scheduler")
	addNode(t, "other", 10)
	addNode(t, "kubecon-1", 10)
	runConfig(t, file, string(text), nil, folder+"/regex_v2.wasm", static+"/regex_v2.wasm", kubeconfig, file)
	kubecon := podFor("kubecon", "kubecon-.*")
	kubecon.Spec.SchedulerName = ""
	addPod(t, kubecon)
	waitForNode(t, "kubecon", "kubecon-1")
}
