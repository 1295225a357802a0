package kubectl

import (
	"context"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
)

// The commands against a real API server, as somebody with a kubeconfig.
func TestOnACluster(t *testing.T) {
	cluster, err := controlplane.Start(context.Background(), controlplane.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	t.Setenv("KUBECONFIG", cluster.Kubeconfig())
	fill(t, kubernetes.NewForConfigOrDie(cluster.AdminConfig()))
	for name, tt := range map[string]struct {
		args   []string
		want   []string
		status int
	}{
		"match":                       {[]string{"match", "kubecon"}, []string{"kubecon-1\nkubecon-2\n", "2 of 3 nodes match"}, 0},
		"match, JSON":                 {[]string{"match", "kubecon", "-o", "json"}, []string{`"kubecon-1"`, `"nodes": 3`}, 0},
		"match, labelled":             {[]string{"match", ".", "-l", "disk=ssd"}, []string{"other\n", "1 of 1 node matches"}, 0},
		"nodes":                       {[]string{"nodes"}, []string{"PATTERN", "kubecon   -         2", "1      1"}, 0},
		"nodes, in another namespace": {[]string{"nodes", "-n", "kube-system"}, []string{"No pod in kube-system has the annotation " + key}, 0},
		"nodes, all":                  {[]string{"nodes", "-A", "-o", "yaml"}, []string{"- nodes: 2\n  patterns:\n    " + key + ": kubecon\n  pending: 1\n  pods: 1\n"}, 0},
		"explain":                     {[]string{"explain", "pod/waits"}, []string{"Matches:  2 of 3 nodes", "Message:  0/3 nodes are available"}, 0},
		"explain, YAML":               {[]string{"explain", "waits", "-o", "yaml"}, []string{": kubecon\n", "scheduler: '0/3 nodes are available"}, 0},
		"explain, event":              {[]string{"explain", "new"}, []string{"Message:  reported in an event"}, 0},
		"explain, absent":             {[]string{"explain", "absent"}, []string{`error: pods "absent" not found`}, exitFailed},
		"lint, live":                  {[]string{"lint", "--live", "--strict", "-"}, []string{"matches none of 3 nodes"}, exitMistakes},
		"completion":                  {[]string{"__complete", "explain", ""}, []string{"new\n", "waits\n", ":4\n"}, 0},
		"no such context":             {[]string{"match", "x", "--context", "nope"}, []string{`error: context "nope" does not exist`}, exitFailed},
		"no rights":                   {[]string{"match", "x", "--as", "eve"}, []string{`error: list nodes: nodes is forbidden: User "eve"`}, exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, stderr := run(t, pod(key+": '^gpu'"), tt.args...)
			for _, want := range tt.want {
				if !strings.Contains(out+stderr, want) {
					t.Errorf("no %q in\n%s%s", want, out, stderr)
				}
			}
			if status != tt.status {
				t.Errorf("exit status %d, want %d", status, tt.status)
			}
		})
	}
}

// fill creates nodes, a pod that a scheduler has rejected, and one with a scheduler's
// event only.
func fill(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	for _, name := range []string{"kubecon-1", "kubecon-2", "other"} {
		n := node(name)
		if name == "other" {
			n.Labels["disk"] = "ssd"
		}
		_, err := client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{})
		must(err)
	}
	for name, annotations := range map[string]map[string]string{"waits": {key: "kubecon"}, "new": {}} {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
		p.Spec.Containers = []v1.Container{{Name: "c", Image: "i"}}
		p, err := client.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{})
		must(err)
		if name == "new" {
			_, err := client.CoreV1().Events("default").Create(ctx, &v1.Event{
				ObjectMeta: metav1.ObjectMeta{Name: "e"}, Reason: "FailedScheduling", Message: "reported in an event",
				InvolvedObject: v1.ObjectReference{Kind: "Pod", Namespace: "default", Name: name, UID: p.UID},
			}, metav1.CreateOptions{})
			must(err)
			continue
		}
		p.Status.Conditions = []v1.PodCondition{{
			Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: "0/3 nodes are available: 3 Insufficient cpu.",
		}}
		_, err = client.CoreV1().Pods("default").UpdateStatus(ctx, p, metav1.UpdateOptions{})
		must(err)
	}
}
