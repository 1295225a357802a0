package kubectl

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// everyCommand tries the commands on the cluster of TestEveryKindOfPodGetsItsAdvice.
func everyCommand(t *testing.T, sim *simulator.Simulator) {
	t.Setenv("KUBECONFIG", sim.Kubeconfig())
	core := sim.Client().CoreV1()
	p, err := core.Pods("default").Get(t.Context(), "nobodys", metav1.GetOptions{})
	testkit.Must(t, err)
	event := &v1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"}, Reason: "FailedScheduling", Message: "reported in an event"}
	event.InvolvedObject = v1.ObjectReference{Kind: "Pod", Namespace: "default", Name: p.Name, UID: p.UID}
	if _, err := core.Events("default").Create(t.Context(), event, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args   []string
		want   []string
		status int
	}{
		"match":                       {[]string{"match", "free"}, []string{"free-1\nfree-2\n", "2 of 3 nodes match"}, 0},
		"match, JSON":                 {[]string{"match", "free", "-o", "json"}, []string{`"free-1"`, `"nodes": 3`}, 0},
		"match, labelled":             {[]string{"match", ".", "-l", "kubernetes.io/hostname=free-2"}, []string{"free-2\n", "1 of 1 node matches"}, 0},
		"nodes":                       {[]string{"nodes"}, []string{"PATTERN", "^taint-1$", "1      1", "missing closing )"}, exitMistakes},
		"nodes, in another namespace": {[]string{"nodes", "-n", "kube-system"}, []string{"No pod in kube-system has the annotation " + key}, 0},
		"nodes, all":                  {[]string{"nodes", "-A", "-o", "yaml"}, []string{"- nodes: 1\n  patterns:\n    " + key + ": ^taint-1$\n  pending: 1\n  pods: 1\n"}, exitMistakes},
		"explain":                     {[]string{"explain", "pod/taint"}, []string{"Matches:  1 of 3 nodes", "Message:  0/3 nodes are available"}, 0},
		"explain, YAML":               {[]string{"explain", "taint", "-o", "yaml"}, []string{": ^taint-1$\n", "scheduler: '0/3 nodes are available"}, 0},
		"explain, event":              {[]string{"explain", "nobodys"}, []string{"Message:  reported in an event"}, 0},
		"explain, invalid":            {[]string{"explain", "bad-pattern"}, []string{"missing closing )"}, exitMistakes},
		"explain, invalid, JSON":      {[]string{"explain", "bad-pattern", "-o", "json"}, []string{"missing closing )"}, exitMistakes},
		"explain, absent":             {[]string{"explain", "absent"}, []string{`error: pods "absent" not found`}, exitFailed},
		"lint, live":                  {[]string{"lint", "--live", "--strict", "-"}, []string{"matches none of 3 nodes"}, exitMistakes},
		"completion":                  {[]string{"__complete", "explain", ""}, []string{"gate\n", "taint\n", ":4\n"}, 0},
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
