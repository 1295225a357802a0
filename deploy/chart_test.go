package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/internal/guestserver"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	objectkit "wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

// helm runs Helm's own program.
func helm(t *testing.T, kubeconfig string, args ...string) (out string, err error) {
	t.Helper()
	program := testkit.Needs(t, "../bin/helm", "make helm builds it, where its modules are served")
	var said, problems bytes.Buffer
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = append(os.Environ(), "HOME="+t.TempDir(), "KUBECONFIG="+kubeconfig)
	command.Stdout, command.Stderr = &said, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("helm %q: %w\n%s", args, err, &problems)
	}
	return said.String(), nil
}

func mustHelm(t *testing.T, kubeconfig string, args ...string) (out string) {
	t.Helper()
	out, err := helm(t, kubeconfig, args...)
	testkit.Must(t, err)
	return out
}

// decode reads the documents of what Helm prints.
func decode(t *testing.T, text string) (all []*unstructured.Unstructured) {
	t.Helper()
	for decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return all
		}
		testkit.Must(t, err)
		if object.Object != nil {
			all = append(all, object)
		}
	}
}

// comparable has each object as JSON, by kind and name, without what differs on purpose:
// kustomize puts the hash of a configuration into a name, the chart into an annotation.
func comparable(t *testing.T, objects []*unstructured.Unstructured) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, object := range objects {
		if object.GetAnnotations()["helm.sh/hook"] != "" {
			continue
		}
		unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "annotations")
		text, err := json.MarshalIndent(object, "", " ")
		testkit.Must(t, err)
		text = regexp.MustCompile(`"(scheduler|extender)-config-[a-z0-9]{10}"`).ReplaceAll(text, []byte(`"$1-config"`))
		name := regexp.MustCompile(`-config-[a-z0-9]{10}$`).ReplaceAllString(object.GetName(), "-config")
		all[object.GetKind()+" "+name] = string(text)
	}
	return all
}

const withMonitoring = "--api-versions=monitoring.coreos.com/v1/ServiceMonitor,monitoring.coreos.com/v1/PrometheusRule"

func TestChartIsTheKustomizations(t *testing.T) {
	testkit.OnOneMinor(t)
	for _, tt := range []struct{ values, flag, kustomization string }{
		{"plugin=v2", "", "resources: [../deploy/scheduler/wasm, ../deploy/static-webserver]"},
		{
			"plugin=v2", withMonitoring,
			"resources: [../deploy/scheduler/wasm, ../deploy/static-webserver]\ncomponents: [../deploy/static-webserver/components/servicemonitor]",
		},
		{"plugin=native", "", "resources: [../deploy/scheduler/native]"},
		{
			"plugin=native,scheduler.decisions=64Mi", "",
			"resources: [../deploy/scheduler/native]\ncomponents: [../deploy/scheduler/components/decisions]",
		},
		{"plugin=extender", "", "resources: [../deploy/scheduler/extender, ../deploy/extender/base]"},
		{
			"plugin=extender,extender.tls=true", "",
			"resources: [../deploy/scheduler/extender-tls, ../deploy/extender/tls]",
		},
		{
			"plugin=extender", withMonitoring,
			"resources: [../deploy/scheduler/extender, ../deploy/extender/servicemonitor]",
		},
		{
			"plugin=native,scheduler.tls=true", withMonitoring,
			"resources: [../deploy/scheduler/native]\ncomponents: [../deploy/scheduler/components/servicemonitor]",
		},
		{
			"plugin=extender,scheduler.tls=true,extender.tls=true", withMonitoring,
			"resources: [../deploy/scheduler/extender-tls, ../deploy/extender/base]\n" +
				"components: [../deploy/scheduler/components/servicemonitor, ../deploy/extender/components/servicemonitor, ../deploy/extender/components/tls]",
		},
	} {
		t.Run(tt.values+tt.flag, func(t *testing.T) {
			args := []string{"template", "r", "chart", "--namespace=" + namespace, "--kube-version=1.36", "--set=" + tt.values}
			if tt.flag != "" {
				args = append(args, tt.flag)
			}
			got := comparable(t, decode(t, mustHelm(t, "", args...)))
			want := comparable(t, mustRenderBeside(t, tt.kustomization))
			for name := range want {
				if got[name] != want[name] {
					t.Errorf("%s: the chart has\n%s\nthe kustomization\n%s", name, got[name], want[name])
				}
			}
			testkit.Equal(t, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)), "the objects of the chart")
		})
	}
}

func TestChartsValues(t *testing.T) {
	out := mustHelm(t, "", "template", "r", "chart", "--namespace=mine", "--kube-version=1.37", withMonitoring,
		"--set=schedulerName=default-scheduler,image.registry=example.com/r,image.tag=v1,prometheus.namespace=observability,test.regex=^a,scheduler.tls=true",
		"--set=test.tolerations[0].key=scheduler,test.tolerations[0].operator=Exists,labels.team=a,image.pullSecrets={pull},scheduler.replicas=3,scheduler.qps=300,scheduler.burst=100000")
	testkit.Has(t, out,
		"- schedulerName: default-scheduler\n", "schedulerName: default-scheduler\n  restartPolicy", "resourceNamespace: kube-system\n      resourceName: kube-scheduler\n",
		"image: example.com/r/scheduler:v1\n", "image: example.com/r/static-webserver:v1\n",
		"kubernetes.io/metadata.name: observability\n", `regex: "^a"`, "tolerations:\n    - key: scheduler\n      operator: Exists\n", "clientConnection: {qps: 300, burst: 100000}",
	)
	inALine := func(text string) string { return strings.Join(strings.Fields(text), " ") } // long lines are folded
	testkit.Has(t, inALine(out), `up{namespace="mine", job="custom-scheduler"})[10m:]) < 3`, `job="static-webserver"})[10m:]) < 2`)
	testkit.Has(t, inALine(mustHelm(t, "", "template", "r", "chart", "--kube-version=1.37", withMonitoring, "--set=plugin=extender,extender.replicas=1")), `job="extender"})[10m:]) < 1`)
	for _, left := range []string{"registry.example", "monitoring\n", "schedulerName: custom-scheduler", "namespace: " + namespace, "namespace=\"" + namespace} {
		if strings.Contains(out, left) {
			t.Errorf("%q is left in\n%s", left, out)
		}
	}
	for _, object := range decode(t, out) {
		testkit.Equal(t, object.GetLabels()["team"], "a", "label team of %s %s", object.GetKind(), object.GetName())
	}
	testkit.Equal(t, strings.Count(out, "imagePullSecrets:\n"), 3, "pods with imagePullSecrets in\n%s", out)
	testkit.Equal(t, strings.Count(out, "- name: pull\n"), 3, "pods with the Secret in\n%s", out)
}

func TestChartsValuesOfPodsAndOfTheSchedulersConfiguration(t *testing.T) {
	const values = `
plugin: extender
scheduler: &pods
  image: example.com/mine@sha256:0000000000000000000000000000000000000000000000000000000000000000
  replicas: 3
  resources: {limits: {memory: 3Gi}}
  nodeSelector: {a: b}
  tolerations: [{key: a, operator: Exists}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}
  priorityClassName: mine
extender: *pods
`
	const profile = `scheduler.config.profiles[0]`
	file := testkit.TempFile(t, "values.yaml", values)
	rendered := decode(t, mustHelm(t, "", "template", "r", "chart", "--namespace=mine", "--kube-version=1.36", "--values="+file, "--set=scheduler.config.percentageOfNodesToScore=50",
		"--set="+profile+".schedulerName=mine,"+profile+".plugins.multiPoint.enabled[0].name=RegexScheduling"))
	deployments := ofKind[appsv1.Deployment](t, rendered, "Deployment")
	if len(deployments) != 2 {
		t.Fatalf("%d Deployments", len(deployments))
	}
	for _, d := range deployments {
		pod, c := d.Spec.Template.Spec, d.Spec.Template.Spec.Containers[0]
		if *d.Spec.Replicas != 3 || !strings.HasPrefix(c.Image, "example.com/mine@") || c.Resources.Limits.Memory().String() != "3Gi" || !c.Resources.Requests.Cpu().IsZero() ||
			pod.NodeSelector["a"] != "b" || len(pod.Tolerations) != 1 || pod.Affinity.PodAntiAffinity == nil || pod.PriorityClassName != "mine" {
			t.Errorf("%s: %v", d.Name, d.Spec)
		}
	}
	for _, configMap := range ofKind[corev1.ConfigMap](t, rendered, "ConfigMap") {
		text := configMap.Data["config.yaml"]
		if configMap.Name != "scheduler-config" {
			if strings.Contains(text, "percentageOfNodesToScore") {
				t.Errorf("%s is\n%s", configMap.Name, text)
			}
			continue
		}
		config, err := kubescheduler.Read([]byte(text))
		testkit.Must(t, err)
		good := errors.New("there is no mistake in it")
		err = kubescheduler.Run(t.Context(), kubescheduler.Options{
			Config: config, Kubeconfig: kubeconfigOf(t, ""), Prepare: func(*scheduler.Scheduler) error { return good },
		})
		testkit.ErrorIs(t, err, good)
		testkit.Has(t, text, "percentageOfNodesToScore: 50\n", "schedulerName: mine", "resourceNamespace: mine\n", "urlPrefix: http://extender:8000/\n")
		testkit.Equal(t, strings.Contains(text, "schedulerName: custom-scheduler"), false, "another profile is in\n%s", text)
	}
}

func TestChartRefusesWhatItCannotDo(t *testing.T) {
	testkit.OnOneMinor(t)
	for values, want := range map[string]string{
		"plugin=":                  "at '/plugin': value must be one of 'v2', 'native', 'extender'",
		"plugin=null":              "missing property 'plugin'",
		"plugin={v2,native}":       "at '/plugin': value must be one of 'v2', 'native', 'extender'",
		"native=true":              "additional properties 'native' not allowed",
		"image.tags=v1":            "additional properties 'tags' not allowed",
		"scheduler.tls=yes":        "at '/scheduler/tls': got string, want boolean",
		"scheduler.qps=0":          "at '/scheduler/qps': minimum: got 0, want 1",
		"scheduler.decisions=1 GB": "at '/scheduler/decisions': '1 GB' does not match pattern",
		"extender.tls=true":        "extender.tls: true needs plugin: extender",
		"schedulerName=A_B":        "at '/schedulerName': 'A_B' does not match pattern",
		"test.regex=[a":            "error parsing regexp: missing closing ]: `[a`",
	} {
		out, err := helm(t, "", "template", "r", "chart", "--kube-version=1.36", "--set="+values)
		if err == nil || out != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", values, err, want)
		}
	}
	_, err := helm(t, "", "template", "r", "chart", "--kube-version=1.34")
	testkit.ErrorHas(t, err, "incompatible with Kubernetes v1.34")
}

// TestChartHasAnImageForEachMinor compares it with the minors that the Makefile builds for. A
// scheduler serves its own minor and the next: the last one's image is for two, as the chart says, and no image is for a later one.
func TestChartHasAnImageForEachMinor(t *testing.T) {
	makefile := testkit.ReadFile(t, "../Makefile")
	minors := strings.Fields(string(regexp.MustCompile(`(?m)^MINORS +:= (.*)$`).FindSubmatch(makefile)[1]))
	want := map[string]string{}
	for _, minor := range minors {
		want[minor] = "/scheduler:dev-kubernetes-" + minor + "\n"
	}
	want[minors[0]] = "/scheduler:dev\n"
	last := slices.Max(minors)
	var number int
	_, err := fmt.Sscanf(last, "1.%d", &number)
	testkit.Must(t, err)
	want[fmt.Sprintf("1.%d", number+1)] = want[last]
	chartWithNotes := withNotes(t)
	for minor, image := range want {
		out := mustHelm(t, "", "template", "r", chartWithNotes, "--kube-version="+minor)
		isOf := fmt.Sprintf("notes: \"The scheduler is of Kubernetes %s: this chart has none of %s,", last, minor)
		notes := regexp.MustCompile("notes: .*").FindString(out)
		testkit.Equal(t, strings.Contains(out, isOf), image == want[last] && minor != last, "notes on Kubernetes %s: %q", minor, notes)
		// The scheduler, and the pod of `helm test`.
		testkit.Equal(t, strings.Count(out, image), 2, "on Kubernetes %s, %q in\n%s", minor, image, out)
	}
	newer := fmt.Sprintf("1.%d", number+2)
	_, err = helm(t, "", "template", "r", "chart", "--kube-version="+newer)
	testkit.ErrorHas(t, err, "and this is "+newer+": take a newer chart, or name an image")
	for _, named := range []string{"image.tag=mine", "scheduler.image=example.com/scheduler:mine"} {
		testkit.Has(t, mustHelm(t, "", "template", "r", "chart", "--kube-version="+newer, "--set="+named), "/scheduler:mine\n")
	}
	first := slices.Min(minors)
	testkit.Has(t, string(testkit.ReadFile(t, "chart/Chart.yaml")), `kubeVersion: ">=`+first+`.0-0"`)
}

// withNotes is a copy of the chart in which helm template shows what helm install says.
func withNotes(t *testing.T) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "chart")
	testkit.Must(t, exec.CommandContext(t.Context(), "cp", "-RL", "chart", folder).Run())
	notes := testkit.ReadFile(t, "chart/templates/NOTES.txt")
	shown := `{{- define "notes" }}` + string(notes) + "{{ end }}\nnotes: {{ include \"notes\" . | trim | quote }}\n"
	testkit.WriteFile(t, folder+"/templates/notes.yaml", shown)
	return folder
}

// chartNamespace is where Helm installs.
const chartNamespace = "regex-chart"

// TestChartIsInstalled installs, tests, upgrades, rolls back and removes a release. Pods do
// not run here: the scheduler runs in this process with the rights and the configuration that
// Helm has put there, and the test says in the kubelet's place how the pod of `helm test` ended.
func TestChartIsInstalled(t *testing.T) {
	kubeconfig := kubeconfigOf(t, "")
	helmHere := func(args ...string) string {
		t.Helper()
		return mustHelm(t, kubeconfig, append(args, "--namespace="+chartNamespace)...)
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: chartNamespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	_, err := client.CoreV1().Namespaces().Create(t.Context(), space, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) { // no controller here ends namespaces
		testkit.Must(t, err)
	}
	removeClusterRole(t) // of other tests, which Helm would not take over
	helmHere("install", "r", "chart", "--set=test.regex=^kubecon-")
	user := "system:serviceaccount:" + chartNamespace + ":custom-scheduler"
	names := map[string]string{"static-webserver": serve(t, guestserver.Handler())}
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:" + chartNamespace, "system:authenticated"}
	for _, node := range []string{"other", "kubecon-1"} {
		addNodeWith(t, node, corev1.ResourceList{
			corev1.ResourcePods: resource.MustParse("100"), corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("10Gi"),
		})
	}
	runConfig(t, kubeconfigOf(t, user, groups...), chartConfig(t, chartNamespace), names)

	tested := make(chan error, 1)
	go func() {
		_, err := helm(t, kubeconfig, "test", "r", "--namespace="+chartNamespace)
		tested <- err
	}()
	const pod = "regex-scheduling-test"
	objectkit.WaitForPod(t, client, chartNamespace, pod, " is on kubecon-1", func(p *corev1.Pod) bool { return p.Spec.NodeName == "kubecon-1" })
	ended := []byte(`{"status":{"phase":"Succeeded"}}`)
	_, err = client.CoreV1().Pods(chartNamespace).Patch(t.Context(), pod, types.MergePatchType, ended, metav1.PatchOptions{}, "status")
	testkit.Must(t, err)
	testkit.Must(t, testkit.EventuallyReceives(t, "helm test", tested))

	helmHere("upgrade", "r", "chart", "--set=plugin=native")
	testkit.Has(t, chartConfig(t, chartNamespace), "- name: RegexScheduling\n")
	helmHere("rollback", "r", "1")
	testkit.Has(t, chartConfig(t, chartNamespace), "guestSHA256")
	helmHere("uninstall", "r")
	for _, object := range decode(t, mustHelm(t, "", "template", "r", "chart", "--namespace="+chartNamespace, "--kube-version=1.36", withMonitoring)) {
		resource, err := resourceOf(object.GroupVersionKind())
		testkit.Must(t, err)
		testkit.Eventually(t, object.GetKind()+" is gone", func(ctx context.Context) error {
			_, err := resource.Namespace(object.GetNamespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
			if err == nil {
				return errors.New("it is there")
			}
			return nil
		})
	}
}

// TestChartTakesThePlaceOfTheClustersScheduler installs it while that one runs, which has to
// schedule the pods of ours: so ours takes its lease only once that one stops.
func TestChartTakesThePlaceOfTheClustersScheduler(t *testing.T) {
	const space = "regex-instead"
	kubeconfig := kubeconfigOf(t, "")
	own := lockOf(client, "kube-system", "kube-scheduler", "the cluster's own")
	testkit.Must(t, own.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: own.Identity(), LeaseDurationSeconds: 15}))
	t.Cleanup(func() {
		testkit.Must(t, client.CoordinationV1().Leases("kube-system").Delete(context.Background(), "kube-scheduler", metav1.DeleteOptions{}))
	})
	removeClusterRole(t)
	mustHelm(t, kubeconfig, "install", "r", "chart", "--namespace="+space, "--create-namespace", "--set=schedulerName=default-scheduler,plugin=native")
	t.Cleanup(func() { removeClusterRole(t) })

	deployments, err := client.AppsV1().Deployments(space).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(deployments.Items) == 0 {
		t.Fatal(deployments, err)
	}
	for _, d := range deployments.Items {
		name := d.Spec.Template.Spec.SchedulerName
		if name != "" && name != corev1.DefaultSchedulerName {
			t.Errorf("the pods of %s have the scheduler %s", d.Name, name)
		}
	}
	ours := clientOf(t, "system:serviceaccount:"+space+":custom-scheduler", "system:serviceaccounts:"+space)
	wantMayLead(t, ours, chartConfig(t, space), "kube-system", "kube-scheduler")
	if _, err := ours.CoordinationV1().Leases("kube-system").Get(t.Context(), "kube-controller-manager", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("it may take another lease: %v", err)
	}
	mustHelm(t, kubeconfig, "uninstall", "r", "--namespace="+space)
}

func removeClusterRole(t *testing.T) {
	t.Helper()
	const name = namespace + "-custom-scheduler"
	_ = client.RbacV1().ClusterRoles().Delete(t.Context(), name, metav1.DeleteOptions{})
	_ = client.RbacV1().ClusterRoleBindings().Delete(t.Context(), name, metav1.DeleteOptions{})
}

// chartConfig is the configuration of the scheduler that is installed.
func chartConfig(t *testing.T, space string) string {
	t.Helper()
	config, err := client.CoreV1().ConfigMaps(space).Get(t.Context(), "scheduler-config", metav1.GetOptions{})
	testkit.Must(t, err)
	return config.Data["config.yaml"]
}
